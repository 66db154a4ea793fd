/**
 * Time as a value. Everything above `system/` asks a `Clock`; tests hand in one they move by hand.
 */

export type Timer = { cancel(): void };

export type Clock = {
  /** Wall clock, milliseconds since the epoch. May jump; use it for what is stored or shown. */
  now(): number;
  /** Monotonic milliseconds from an arbitrary start. Use it for durations. */
  elapsed(): number;
  /** Calls `run` once after `delayMs`. The timer alone never keeps the process alive. */
  after(delayMs: number, run: () => void): Timer;
};

/** setTimeout fires at once for delays above 2^31-1 ms; a longer wait is cut and the caller asks again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves after `delayMs`, or at once when `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const finish = () => {
      timer.cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = clock.after(delayMs, finish);
    signal?.addEventListener('abort', finish);
  });
}

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** Rejects with `TimeoutError` when `work` has not settled within `timeoutMs`. The work itself is not stopped. */
export function withTimeout<T>(clock: Clock, timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(timeoutMs, () =>
      reject(new TimeoutError(`${what} took longer than ${timeoutMs} ms`)),
    );
    work.then(resolve, reject).finally(timer.cancel);
  });
}

/** ISO 8601 UTC with milliseconds, the form of every `<timestamp>` in the API. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
