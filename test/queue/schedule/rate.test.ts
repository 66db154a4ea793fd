import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rate } from '../../../src/queue/schedule/rate.ts';

test('a rate per minute becomes small claims, and each waits for the recipients of the last', () => {
  const slow = new Rate(30);
  assert.deepEqual([slow.perClaim, slow.waitMs(0)], [1, 0]);
  slow.spend(1, 0);
  assert.deepEqual([slow.waitMs(0), slow.waitMs(1_500), slow.waitMs(2_000)], [2_000, 500, 0]);
  const fast = new Rate(840);
  assert.equal(fast.perClaim, 14);
  fast.spend(14, 5_000);
  assert.equal(fast.waitMs(5_000), 1_000);
});

test('unused time is not saved up, and a message to many recipients delays the next one', () => {
  const rate = new Rate(60);
  rate.spend(50, 3_600_000);
  assert.equal(rate.waitMs(3_600_000), 50_000);
  assert.equal(rate.waitMs(3_650_000), 0);
});
