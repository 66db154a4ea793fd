/** Waits for what happens in real time. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time limit that only a failing test reaches. */
const MAX_WAIT_MS = 60_000;
/** The pauses between two looks grow, because a look may cost as much as a request. */
const PAUSE_MS = { first: 1, longest: 16, factor: 1.5 };

/** Waits until sockets, files or threads have made the condition true. A fake clock stands still meanwhile. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what = 'it holds',
): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = PAUSE_MS.first; !(await condition()); pauseMs *= PAUSE_MS.factor) {
    assert.ok(performance.now() < deadline, `waited in vain until ${what}`);
    await sleep(Math.min(pauseMs, PAUSE_MS.longest));
  }
}

/**
 * Waits like `waitUntil`, and lets the clocks follow the real time meanwhile: delays pass, and no time limit is reached on a machine
 * that is slow.
 */
export async function waitUntilInTime(
  clocks: readonly { advance(durationMs: number): Promise<void> }[],
  condition: () => boolean | Promise<boolean>,
  what?: string,
): Promise<void> {
  let lookedAt = performance.now();
  await waitUntil(async () => {
    const now = performance.now();
    const passedMs = Math.ceil(now - lookedAt);
    lookedAt = now;
    for (const clock of clocks) await clock.advance(passedMs);
    return condition();
  }, what);
}

/** Number of equal readings in a row after which a number counts as being at rest. */
const QUIET_READINGS = 50;

/** Waits until a number, which grows from 0, has stopped growing. */
export async function waitUntilAtRest(read: () => number): Promise<void> {
  let before = -1;
  let quietReadings = 0;
  await waitUntil(() => {
    const now = read();
    quietReadings = now === before && now > 0 ? quietReadings + 1 : 0;
    before = now;
    return quietReadings === QUIET_READINGS;
  });
}
