import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from '../../src/mailboxes/passwords/hash.ts';
import { countHashes } from '../mailboxes/passwords/counted-hashes.ts';

const comparison = { owner: 'a', mayStart: () => true, onMismatch: () => {} };

test('hashes of one password that follow each other differ, and match no other password', async () => {
  const hashes: string[] = [];
  for (let count = 0; count < 4; count++) hashes.push(await hashPassword('kept', 'a'));
  assert.equal(new Set(hashes).size, 2);
  for (const hash of new Set(hashes)) {
    assert.equal(await verifyPassword('kept', hash, comparison), true);
    assert.equal(await verifyPassword('kepT', hash, comparison), false);
  }
});

test('a test that counts hashes sees each of them', async (t) => {
  await hashPassword('counted', 'a');
  const counted = countHashes();
  t.after(counted.restore);
  for (let count = 0; count < 4; count++) await hashPassword('counted', 'a');
  assert.equal(counted.take().length, 4);
});
