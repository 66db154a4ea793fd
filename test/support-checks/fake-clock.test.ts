import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../../src/system/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';

test('both clocks stand still until they are moved, and move together', async () => {
  const clock = createFakeClock(1_000);
  assert.deepEqual([clock.now(), clock.elapsed()], [1_000, 0]);
  await clock.advance(250);
  assert.deepEqual([clock.now(), clock.elapsed()], [1_250, 250]);
});

test('timers fire in the order they fall due, each at its own time', async () => {
  const clock = createFakeClock(0);
  const fired: string[] = [];
  clock.after(30, () => fired.push(`late at ${clock.now()}`));
  clock.after(10, () => fired.push(`first at ${clock.now()}`));
  clock.after(10, () => fired.push(`second at ${clock.now()}`));
  await clock.advance(29);
  assert.deepEqual(fired, ['first at 10', 'second at 10']);
  await clock.advance(1);
  assert.deepEqual(fired, ['first at 10', 'second at 10', 'late at 30']);
});

test('a timer set by what a timer set in motion fires in the same advance, at the right time', async () => {
  const clock = createFakeClock(0);
  const seen: number[] = [];
  async function loop(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      await sleep(clock, 10);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(clock.now());
    }
  }
  const done = loop();
  await clock.advance(100);
  await done;
  assert.deepEqual(seen, [10, 20, 30]);
  assert.equal(clock.now(), 100);
});

test('a cancelled timer never fires, also when another one cancels it at the same moment', async () => {
  const clock = createFakeClock(0);
  const fired: string[] = [];
  clock.after(5, () => fired.push('cancelled early')).cancel();
  clock.after(10, () => other.cancel());
  const other = clock.after(10, () => fired.push('cancelled late'));
  await clock.advance(20);
  assert.deepEqual(fired, []);
});

test('a delay below zero falls due at once, but only when the clock is advanced', async () => {
  const clock = createFakeClock(0);
  const fired: number[] = [];
  clock.after(-5, () => fired.push(clock.now()));
  assert.deepEqual(fired, []);
  await clock.advance(0);
  assert.deepEqual(fired, [0]);
});

test('two advances at once, or one backwards, are mistakes of the test', async () => {
  const clock = createFakeClock(0);
  const running = clock.advance(10);
  await assert.rejects(clock.advance(10), /already advancing/);
  await running;
  await assert.rejects(clock.advance(-1), RangeError);
});
