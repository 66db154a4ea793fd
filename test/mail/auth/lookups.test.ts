import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMessageLookups } from '../../../src/mail/auth/resolver.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const DNS = zoneDns('a.example A 192.0.2.1');

test('the lookups of a message are counted together, and those beyond the limit fail', async () => {
  const lookups = createMessageLookups(DNS, createFakeClock(0));
  for (let count = 0; count < 40; count++) {
    assert.equal((await lookups.a('a.example')).kind, 'found');
    for (const ask of [lookups.aaaa, lookups.txt, lookups.mx, lookups.ptr])
      assert.equal((await ask('a.example')).kind, 'no-data');
  }
  assert.deepEqual(await lookups.a('a.example'), { kind: 'failed', reason: 'too many lookups' });
  assert.equal(lookups.count, 201);
});

test('lookups fail when their time is over, those under way and those that begin later', async () => {
  const clock = createFakeClock(0);
  const never = () => new Promise<never>(() => {});
  const lookups = createMessageLookups({ ...DNS, txt: never }, clock);
  const failed = { kind: 'failed', reason: 'ETIMEOUT' };
  const pending = lookups.txt('a.example');
  await clock.advance(8_000);
  assert.deepEqual(await pending, failed);
  assert.deepEqual(await lookups.a('a.example'), failed);
});
