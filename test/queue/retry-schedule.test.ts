import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryDelayMs } from '../../src/queue/retry-schedule.ts';

const minutes = (attempts: number, random = 0.5) => retryDelayMs(() => random, attempts) / 60_000;

test('retries come quickly at first and then every four hours', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 30].map((attempts) => minutes(attempts)),
    [1, 5, 10, 20, 40, 60, 120, 240, 240, 240],
  );
});

test('jitter moves a delay by at most a tenth', () => {
  assert.equal(minutes(3, 0), 9);
  assert.ok(minutes(3, 0.999) < 11);
});
