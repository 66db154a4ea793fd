import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { queueKeyOf, rerouteQueue } from '../../src/queue/queue-key.ts';
import { placeOfProvider } from '../../src/queue/shaping/restriction.ts';
import { homeOf, ownerOf } from '../../src/queue/share.ts';

const share = (count: number) => ({ index: 0, count });
const counts = fc.integer({ min: 1, max: 32 });
const hosts = fc
  .array(fc.domain(), { minLength: 1, maxLength: 4 })
  .map((names) => names.map((name) => name.toLowerCase()).join(','));

test('each site has one owner, whatever its source and its TLS are', () => {
  const behind = fc.constantFrom(
    ' dnssec',
    ' mta-sts=0123456789abcdef',
    ' tls=require',
    ' from one 01234567',
  );
  fc.assert(
    fc.property(counts, hosts, fc.array(behind, { maxLength: 2 }), (count, site, variant) => {
      const owner = ownerOf(site, share(count));
      assert.ok(owner >= 0 && owner < count);
      assert.equal(ownerOf(`${site}${variant.join('')}`, share(count)), owner);
    }),
  );
});

test('all sites of a provider, and the provider as a place, have one owner', () => {
  for (let count = 1; count <= 16; count++) {
    const owner = ownerOf(placeOfProvider('google'), share(count));
    for (const site of [
      'gmail-smtp-in.l.google.com',
      'alt1.aspmx.l.google.com,aspmx.l.google.com/alt3.aspmx.l.google.com dnssec from one 01234567',
    ])
      assert.equal(ownerOf(site, share(count)), owner, `${site} of ${count}`);
  }
});

test('all queues of a domain have one home, and a rerouted one that of its target', () => {
  fc.assert(
    fc.property(counts, fc.domain(), (count, domain) => {
      const one = queueKeyOf({ mode: 'live', kind: 'transactional', tenantId: 'ten_1' }, domain);
      const other = queueKeyOf({ mode: 'live', kind: 'broadcast', tenantId: 'ten_2' }, domain);
      const home = homeOf(one, share(count));
      assert.ok(home >= 0 && home < count);
      assert.equal(homeOf(other, share(count)), home);
      const moved = rerouteQueue(
        queueKeyOf({ mode: 'live', kind: 'broadcast', tenantId: 't' }, 'a.example'),
        domain,
      );
      assert.equal(homeOf(moved, share(count)), home);
    }),
  );
});

test('sites and domains are dealt evenly', () => {
  const counted = (indexOf: (name: string) => number) => {
    const numbers = [0, 0, 0, 0];
    for (let index = 0; index < 4_000; index++) {
      const thread = indexOf(`mx${index}.example`);
      numbers[thread] = (numbers[thread] ?? 0) + 1;
    }
    return numbers;
  };
  const sites = counted((name) => ownerOf(name, share(4)));
  const homes = counted((name) => homeOf(`live transactional ten_1 ${name}`, share(4)));
  for (const number of [...sites, ...homes]) assert.ok(number > 850 && number < 1_150, `${number} of 4000`);
});
