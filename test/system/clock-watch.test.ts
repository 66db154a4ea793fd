import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockWatch } from '../../src/system/clock-watch.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NOW = Date.UTC(2030, 0, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Returns a clock whose wall time can be set. */
function settableClock() {
  const clock = createFakeClock(NOW);
  let offsetMs = 0;
  return {
    ...clock,
    now: () => clock.now() + offsetMs,
    set(changeMs: number) {
      offsetMs += changeMs;
    },
  };
}

test('a clock that runs on, or that is less than a minute behind, is not reported', async () => {
  for (const lastKnownMs of [0, NOW, NOW + MINUTE_MS - 1]) {
    const clock = settableClock();
    const watch = new ClockWatch(clock, lastKnownMs);
    assert.deepEqual([watch.behindMs, watch.check()], [0, 0]);
    await clock.advance(HOUR_MS);
    assert.deepEqual([watch.behindMs, watch.check()], [0, 0]);
  }
});

test('a clock that is behind the time that was stored is reported once, and is behind until it has caught up', async () => {
  const clock = settableClock();
  const watch = new ClockWatch(clock, NOW + HOUR_MS);
  assert.equal(watch.behindMs, HOUR_MS);
  assert.deepEqual([watch.check(), watch.check()], [HOUR_MS, 0]);
  await clock.advance(HOUR_MS - MINUTE_MS);
  assert.equal(watch.behindMs, MINUTE_MS);
  await clock.advance(1);
  assert.deepEqual([watch.behindMs, watch.check()], [0, 0]);
});

test('a clock that is set back while the daemon runs is noticed against the monotonic clock', async () => {
  const clock = settableClock();
  const watch = new ClockWatch(clock, NOW);
  watch.check();
  await clock.advance(5 * MINUTE_MS);
  clock.set(-HOUR_MS);
  // The wall clock was set to an hour before the time that it would show now.
  assert.equal(watch.check(), HOUR_MS);
  assert.equal(watch.behindMs, HOUR_MS);
  clock.set(2 * HOUR_MS);
  assert.deepEqual([watch.check(), watch.behindMs], [0, 0]);
});
