import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparePublished, type RecordValue } from '../../src/domains/published.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { zoneDns } from '../support/zone-dns.ts';

const clock = createFakeClock(0);

async function stateOf(record: RecordValue, zone: string): Promise<string> {
  const [published] = await comparePublished(zoneDns(zone), [record], { clock, timeoutMs: 1_000 });
  return published?.state ?? 'none';
}

const SPF: RecordValue = { type: 'TXT', name: 'mx.example', value: 'v=spf1 include:_spf.mx.example -all' };
const KEY: RecordValue = { type: 'TXT', name: 's._domainkey.mx.example', value: 'v=DKIM1; k=rsa; p=AAAA' };
const TLSA: RecordValue = { type: 'TLSA', name: '_25._tcp.mx.example', value: '3 1 1 ab01' };
const ALIAS: RecordValue = { type: 'CNAME', name: 'track.mx.example', value: 'mx.example' };

test('a record is published when what it is for is there, whatever stands beside it', async () => {
  assert.equal(
    await stateOf(SPF, 'mx.example TXT "v=spf1 ip4:192.0.2.9 include:_spf.mx.example ~all"'),
    'published',
  );
  const beside = 'mx.example TXT "v=spf1 include:_spf.mx.example -all"\nmx.example TXT "google-site=1"';
  assert.equal(await stateOf(SPF, beside), 'published');
  assert.equal(await stateOf(KEY, 's._domainkey.mx.example TXT "k=rsa; p=AA AA"'), 'published');
  assert.equal(await stateOf(TLSA, '_25._tcp.mx.example TLSA 3 1 1 AB01'), 'published');
  const mx: RecordValue = { type: 'MX', name: 'bounce.mx.example', value: '10 mx.example' };
  assert.equal(await stateOf(mx, 'bounce.mx.example MX 50 MX.example.'), 'published');
});

test('another value of the same kind is different, and a text of another kind means that ours is missing', async () => {
  assert.equal(await stateOf(SPF, 'mx.example TXT "v=spf1 -all"'), 'different');
  assert.equal(await stateOf(SPF, 'mx.example TXT "google-site=1"'), 'missing');
  const two = 'mx.example TXT "v=spf1 include:_spf.mx.example -all"\nmx.example TXT "v=spf1 -all"';
  assert.equal(await stateOf(SPF, two), 'different');
  assert.equal(await stateOf(KEY, 's._domainkey.mx.example TXT "v=DKIM1; p=BBBB"'), 'different');
  assert.equal(await stateOf(TLSA, '_25._tcp.mx.example TLSA 3 1 1 ff'), 'different');
  assert.equal(await stateOf(TLSA, ''), 'missing');
});

test('addresses of the target do what an alias is for', async () => {
  assert.equal(await stateOf(ALIAS, 'mx.example A 192.0.2.1\ntrack.mx.example A 192.0.2.1'), 'published');
  assert.equal(await stateOf(ALIAS, 'mx.example A 192.0.2.1\ntrack.mx.example A 192.0.2.2'), 'different');
  assert.equal(await stateOf(ALIAS, 'mx.example A 192.0.2.1'), 'missing');
});

test('without an answer, and when the time is used up, nothing is known', async () => {
  const dns = zoneDns('');
  dns.fail('mx.example', 'ETIMEOUT');
  const limit = { clock, timeoutMs: 1_000 };
  assert.deepEqual(await comparePublished(dns, [SPF], limit), [
    { state: 'unknown', found: [], reason: 'ETIMEOUT' },
  ]);
  const late = await comparePublished(dns, [SPF], { clock, timeoutMs: 0 });
  assert.deepEqual(late, [{ state: 'unknown', found: [], reason: 'there was no time left' }]);
});
