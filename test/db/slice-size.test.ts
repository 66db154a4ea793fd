import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SliceSize } from '../../src/db/slice-size.ts';

test('a slice never gets smaller than its minimum, nor larger than its maximum', () => {
  const size = new SliceSize({ first: 100, min: 30, max: 120 });
  const follow = (tookMs: number) => {
    size.follow(tookMs);
    return size.rows;
  };
  assert.deepEqual([follow(20), follow(5)], [100, 100], 'a slice in between changes nothing');
  assert.deepEqual([follow(21), follow(21), follow(21)], [50, 30, 30]);
  assert.deepEqual([follow(4), follow(4), follow(4)], [38, 48, 60]);
  assert.deepEqual([follow(4), follow(4), follow(4), follow(4)], [75, 94, 118, 120]);
  assert.equal(follow(0), 120);
});
