/** Sums that take long to read are read again only when their upper bounds do not fit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpperBounds } from '../../src/db/upper-bounds.ts';

test('a sum is read once while its bound fits, and what is added counts at once', async () => {
  const sums = new Map([
    ['a', 100],
    ['b', 5],
  ]);
  const reads: string[] = [];
  const bounds = new UpperBounds<string>(async (key) => {
    reads.push(key);
    return sums.get(key) ?? 0;
  }, 10);
  const isAtMost = (key: string, max: number) => bounds.doesFit(key, (sum) => sum <= max);
  bounds.add('a', 1_000);
  assert.equal(await isAtMost('a', 100), true, 'what was added before the first reading is part of it');
  assert.equal(await isAtMost('a', 120), true);
  bounds.add('a', 20);
  assert.equal(await isAtMost('a', 120), true);
  assert.equal(await isAtMost('b', 5), true);
  assert.deepEqual(reads, ['a', 'b']);
  assert.equal(await isAtMost('a', 119), true, 'the sum is smaller than its bound');
  assert.equal(await isAtMost('a', 99), false);
  assert.deepEqual(reads, ['a', 'b', 'a', 'a']);
});

test('what is added while a sum is read is not missed, and nobody takes the bound before it is read', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const bounds = new UpperBounds<string>(() => promise, 10);
  const fits = (sum: number) => sum < 100;
  const first = bounds.doesFit('a', fits);
  bounds.add('a', 1);
  const second = bounds.doesFit('a', fits);
  bounds.add('a', 1);
  resolve(99);
  assert.deepEqual(await Promise.all([first, second]), [false, false]);
  bounds.add('a', 1);
  assert.equal(await bounds.doesFit('a', (sum) => sum === 101), true);
});
