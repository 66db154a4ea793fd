import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateDkimKey } from '../../src/mail/dkim/key.ts';

test('DKIM keys that follow each other differ, and are generated once', async () => {
  const keys = await Promise.all(Array.from({ length: 16 }, generateDkimKey));
  const publicKeys = keys.map(({ publicKeyBase64 }) => publicKeyBase64);
  assert.equal(new Set(publicKeys.slice(0, 8)).size, 8);
  assert.deepEqual(publicKeys.slice(8), publicKeys.slice(0, 8));
});
