/** The certificates on the control socket: those that need attention come first, and pages go on behind a certificate. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ShownCertificates } from '../../src/certificates/admin-api.ts';
import type { CertificateStatus } from '../../src/certificates/show.ts';
import { createControlServer } from '../../src/control-socket.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = Date.UTC(2026, 10, 29);
const world = await openTestApp({ system: { clock: createFakeClock(NOW) } });
after(() => world.close());

const LATER = '2027-01-01T00:00:00.000Z';
const EARLIER = '2026-01-01T00:00:00.000Z';

function ordered(name: string, expiresAt: string | null, failures = 0): CertificateStatus {
  const order = {
    name,
    tenantId: null,
    authority: 'https://ca.example/',
    renewAt: null,
    nextAttemptAt: null,
  };
  return {
    ...{ kind: 'acme', certificate: null, key: null, names: expiresAt === null ? null : [name] },
    ...{ keyType: expiresAt === null ? null : 'ec', validFrom: null, expiresAt, tlsa: null, problem: null },
    order: { ...order, failures, lastError: null, lastErrorAt: null },
  };
}

test('those that need attention are on the first page, and each page goes on behind the one before', async () => {
  const listed = [
    ordered('b.example', LATER),
    ordered('a.example', LATER),
    ordered('old.example', EARLIER),
    ordered('new.example', null),
    ordered('failing.example', LATER, 2),
    ordered('missing.example', null, 1),
  ];
  const none = async () => assert.fail('nobody asks');
  const certificates = { list: async () => listed, reload: none, records: async () => [] };
  const server = await createControlServer(world.app, { certificates });
  const page = async (query: Record<string, string>): Promise<ShownCertificates> =>
    (await server.inject({ url: `/certificates?${new URLSearchParams(query)}` })).json();
  const seen: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const shown: ShownCertificates = await page({ limit: '2', after });
    seen.push(...shown.certificates.map(({ order, state }) => `${order?.name} ${state}`));
    after = shown.next;
  }
  assert.deepEqual(seen, [
    'failing.example failing',
    'missing.example missing',
    'new.example ordered',
    'old.example expired',
    'a.example valid',
    'b.example valid',
  ]);
  const named = await page({ name: 'OLD' });
  assert.deepEqual([named.certificates.map(({ order }) => order?.name), named.next], [['old.example'], null]);
  await server.close();
});
