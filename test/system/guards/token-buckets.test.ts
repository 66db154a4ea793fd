import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTokenBuckets } from '../../../src/system/guards/token-buckets.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

test('a bucket holds its burst, gains its tokens every second, and never more than the burst', async () => {
  const clock = createFakeClock(0);
  const buckets = createTokenBuckets(clock, 10);
  const take = () => buckets.take('a', { tokensPerSecond: 2, burst: 3 });
  assert.deepEqual(
    [take(), take(), take(), take()].map(({ allowed, tokens }) => [allowed, tokens]),
    [
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ],
  );
  await clock.advance(250);
  assert.deepEqual(take(), { allowed: false, tokens: 0.5 });
  await clock.advance(250);
  assert.deepEqual(take(), { allowed: true, tokens: 0 });
  await clock.advance(60_000);
  assert.deepEqual(take(), { allowed: true, tokens: 2 });
});

test('buckets are separate by name, and the least recently used one is dropped', () => {
  const buckets = createTokenBuckets(createFakeClock(0), 2);
  const take = (name: string) => buckets.take(name, { tokensPerSecond: 1, burst: 1 }).allowed;
  assert.deepEqual([take('a'), take('a'), take('b'), take('b')], [true, false, true, false]);
  assert.deepEqual([take('c'), take('b'), take('a')], [true, false, true]);
});

test('asking whether there is a token takes none', async () => {
  const clock = createFakeClock(0);
  const buckets = createTokenBuckets(clock, 10);
  const size = { tokensPerSecond: 1, burst: 1 };
  assert.deepEqual([buckets.mayTake('a', size), buckets.mayTake('a', size)], [true, true]);
  buckets.take('a', size);
  await clock.advance(999);
  assert.equal(buckets.mayTake('a', size), false);
  await clock.advance(1);
  assert.equal(buckets.mayTake('a', size), true);
});

test('a bucket owes what is charged beyond its tokens, at most its burst', async () => {
  const clock = createFakeClock(0);
  const buckets = createTokenBuckets(clock, 10);
  const size = { tokensPerSecond: 1, burst: 2 };
  for (let count = 0; count < 3; count++) buckets.charge('a', size);
  await clock.advance(1_999);
  assert.equal(buckets.mayTake('a', size), false);
  await clock.advance(1);
  assert.equal(buckets.mayTake('a', size), true);
  for (let count = 0; count < 100; count++) buckets.charge('a', size);
  await clock.advance(3_000);
  assert.equal(buckets.mayTake('a', size), true);
});
