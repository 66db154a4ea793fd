/**
 * A clock that stands still until a test moves it. Timers fire in the order in which they fall due, and timers with the
 * same time in the order in which they were set. The work that a timer starts runs before the next timer fires.
 */
import type { Clock } from '../../src/system/clock.ts';

export type FakeClock = Clock & {
  /**
   * Moves the wall clock and the monotonic clock by `durationMs`. Before the first timer, between two timers and after
   * the last one, microtasks and immediates run, so that pending promises settle unless they wait for time or for I/O.
   * `advance(0)` only lets them run.
   */
  advance(durationMs: number): Promise<void>;
};

type PendingTimer = { dueMs: number; run: () => void };

/** Number of turns of the event loop between two timers. It is enough for chains of up to four immediates. */
const SETTLE_TURNS = 4;

/** Returns a clock that shows `startMs`, in Unix milliseconds. */
export function createFakeClock(startMs: number): FakeClock {
  let elapsedMs = 0;
  let advancing = false;
  const timers = new Set<PendingTimer>();

  function nextDue(untilMs: number): PendingTimer | undefined {
    let next: PendingTimer | undefined;
    for (const timer of timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }

  async function advance(durationMs: number): Promise<void> {
    if (advancing) throw new Error('the fake clock is already advancing');
    if (!(durationMs >= 0)) throw new RangeError(`the fake clock cannot advance by ${durationMs} ms`);
    advancing = true;
    try {
      const untilMs = elapsedMs + durationMs;
      await settle();
      for (let timer = nextDue(untilMs); timer !== undefined; timer = nextDue(untilMs)) {
        timers.delete(timer);
        elapsedMs = timer.dueMs;
        timer.run();
        await settle();
      }
      elapsedMs = untilMs;
      await settle();
    } finally {
      advancing = false;
    }
  }

  return {
    now: () => startMs + elapsedMs,
    elapsed: () => elapsedMs,
    after(delayMs, run) {
      const timer = { dueMs: elapsedMs + Math.max(delayMs, 0), run };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    advance,
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
