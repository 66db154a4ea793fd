/**
 * A clock that stands still until a test moves it. Timers fire in the order they fall due (equal ones in the order
 * they were set), each at its own time, and what they set in motion runs before the next one fires.
 */
import type { Clock } from '../../src/system/clock.ts';

export type FakeClock = Clock & {
  /**
   * Moves both clocks on by `durationMs`. Between two timers, and at both ends, microtasks and immediates run, so
   * that a chain of awaits has got as far as it can without time or outside I/O. `advance(0)` only lets them run.
   */
  advance(durationMs: number): Promise<void>;
};

type PendingTimer = { dueMs: number; run: () => void };

/** Turns of the event loop granted between two timers: enough for an immediate set by an immediate, twice over. */
const SETTLE_TURNS = 4;

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
