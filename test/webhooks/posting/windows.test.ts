import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, Windows } from '../../../src/webhooks/posting/windows.ts';

const GOOD: Answer = { isGood: true, isOverloaded: false, timeMs: 50 };
const OVERLOADED: Answer = { isGood: false, isOverloaded: true, timeMs: 50 };

/** Makes rounds of posts, as many as are allowed at the same time. */
function rounds(windows: Windows, count: number, answer: Answer, from = 1): void {
  for (let round = 0; round < count; round++) {
    const beganAt = from + 10 * round;
    const open = windows.sizeOf('a');
    for (let index = 0; index < open; index++) windows.begin('a');
    for (let index = 0; index < open; index++) windows.end('a', answer, { beganAt, now: beganAt + 5 });
  }
}

test('an endpoint starts with four open posts, and gets more while its answers are quick and good', () => {
  const windows = new Windows(64);
  assert.equal(windows.sizeOf('a'), 4);
  rounds(windows, 1, GOOD);
  assert.ok(windows.sizeOf('a') > 5);
  rounds(windows, 20, GOOD);
  assert.equal(windows.sizeOf('a'), 64);
  assert.equal(windows.sizeOf('b'), 4, 'another one is on its own');
});

test('slow answers, and refusals that are no overload, change nothing', () => {
  for (const answer of [
    { ...GOOD, timeMs: 1_500 },
    { isGood: false, isOverloaded: false, timeMs: 5 },
  ]) {
    const windows = new Windows(64);
    rounds(windows, 5, answer);
    assert.equal(windows.sizeOf('a'), 4);
  }
});

test('an overload halves the number once for all posts that were open, down to one', () => {
  const windows = new Windows(64);
  rounds(windows, 20, GOOD);
  const sizes = [];
  for (let round = 0; round < 8; round++) {
    rounds(windows, 1, OVERLOADED, 1_000 + 10 * round);
    sizes.push(windows.sizeOf('a'));
  }
  assert.deepEqual(sizes, [32, 16, 8, 4, 2, 1, 1, 1]);
});

test('after an overload the number grows by about one for each round', () => {
  const windows = new Windows(64);
  rounds(windows, 20, GOOD);
  rounds(windows, 1, OVERLOADED, 1_000);
  rounds(windows, 4, GOOD, 2_000);
  assert.ok(windows.sizeOf('a') >= 35 && windows.sizeOf('a') <= 37, `${windows.sizeOf('a')}`);
});

test('the configured maximum holds, and single posts do not make the number grow', () => {
  const small = new Windows(2);
  rounds(small, 9, GOOD);
  assert.equal(small.sizeOf('a'), 2);
  const windows = new Windows(64);
  for (let count = 0; count < 100; count++) {
    windows.begin('a');
    windows.end('a', GOOD, { beganAt: count, now: count + 1 });
  }
  assert.equal(windows.sizeOf('a'), 4);
});
