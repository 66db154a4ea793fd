import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAuthority } from '../../src/system/authority.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { realClock } from '../../src/system/clock.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { LOOPBACK_GUARD } from '../support/loopback.ts';
import { zoneDns } from '../support/zone-dns.ts';

const RESOLVER_ZONE =
  'ns.example.com A 127.0.0.1\nwww.other.example A 192.0.2.2\nwww.example.com A 192.0.2.9';

function portOf(address: string): number {
  return Number(address.split(':').at(-1));
}

test('names in the zone are asked of its name servers, and others of the resolver', async () => {
  await using server = await startDnsServer('new.example.com A 192.0.2.1');
  const lookups = await openAuthority(
    { clock: realClock, dns: { fresh: zoneDns(RESOLVER_ZONE) }, targets: LOOPBACK_GUARD },
    { zones: ['example.com'], findNameServers: async () => ['ns.example.com'], port: portOf(server.address) },
  );
  const found = await lookups.a('new.example.com');
  assert.deepEqual(found.kind === 'found' && found.records, ['192.0.2.1']);
  // The resolver knows this name, and is not asked.
  assert.equal((await lookups.a('www.example.com')).kind, 'no-name');
  assert.equal((await lookups.a('www.other.example')).kind, 'found');
});

test('name servers at private addresses are not asked', async () => {
  const lookups = await openAuthority(
    {
      clock: realClock,
      dns: { fresh: zoneDns(RESOLVER_ZONE) },
      targets: createTargetGuard({ allow: [], own: [] }),
    },
    { zones: ['example.com'], findNameServers: async () => ['ns.example.com'], port: 1 },
  );
  assert.equal((await lookups.a('www.example.com')).kind, 'found');
});

test('the resolver is asked where the name servers give no answer', async () => {
  const lookups = await openAuthority(
    { clock: realClock, dns: { fresh: zoneDns(RESOLVER_ZONE) }, targets: LOOPBACK_GUARD },
    { zones: ['example.com', 'example.com'], findNameServers: async () => [] },
  );
  assert.equal((await lookups.a('www.example.com')).kind, 'found');
});
