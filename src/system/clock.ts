/**
 * Time as a value. Code above `system/` reads the time from a `Clock`; tests pass a clock that they move themselves.
 */

export type Timer = { cancel(): void };

export type Clock = {
  /** Wall clock, milliseconds since the Unix epoch. May jump; use it for what is stored or shown. */
  now(): number;
  /** Monotonic milliseconds since this thread was started; on the main thread, since the process was. Use it for durations. */
  elapsed(): number;
  /** Calls `run` once after `delayMs`. The timer alone never keeps the process alive. */
  after(delayMs: number, run: () => void): Timer;
};

export const DAY_MS = 86_400_000;

/**
 * Maximum delay of a timer: setTimeout fires at once for delays above 2^31-1 ms. A longer delay is cut to this, and
 * the caller checks the time again.
 */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Calls `run` once when the wall clock has reached a time in Unix milliseconds, and never when it is null. */
export function runAt(clock: Pick<Clock, 'now' | 'after'>, at: number | null, run: () => void): Timer {
  if (at === null) return { cancel: () => {} };
  const wait = (): Timer =>
    clock.after(at - clock.now(), () => {
      if (clock.now() >= at) run();
      else timer = wait();
    });
  let timer = wait();
  return { cancel: () => timer.cancel() };
}

/** Resolves after `delayMs` of real time. The program does not end meanwhile, as it would with a timer of `Clock`: this is for commands. */
export function sleepInForeground(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs));
}

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

/** `what` names the work in the message of the error. */
type TimeLimit = { timeoutMs: number; what: string };

/** Rejects with `TimeoutError` when `work` has not settled within `timeoutMs`. The work itself is not stopped. */
export function withTimeout<T>(clock: Clock, work: Promise<T>, { timeoutMs, what }: TimeLimit): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(timeoutMs, () =>
      reject(new TimeoutError(`${what} took longer than ${timeoutMs} ms`)),
    );
    work.then(resolve, reject).finally(timer.cancel);
  });
}

/** Returns ISO 8601 UTC with milliseconds, the form of every `<timestamp>` in the API. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

/**
 * Matches ISO 8601 as RFC 3339 section 5.6 profiles it. ISO 8601 also allows leaving out the seconds and the minutes
 * of the offset.
 */
const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/;

/** Matches a date without a time (RFC 3339 section 5.6, full-date). */
const PLAIN_DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns the first and the last millisecond of a plain date in UTC, or a timestamp twice. The result is undefined for any other text, and for a
 * date that does not exist.
 */
export function parseDateOrTime(text: string): { first: number; last: number } | undefined {
  const isDate = PLAIN_DATE.test(text);
  const first = parseTimestamp(isDate ? `${text}T00:00:00Z` : text);
  return first === undefined ? undefined : { first, last: isDate ? first + DAY_MS - 1 : first };
}

/**
 * Returns epoch milliseconds. The result is undefined when the text is not a timestamp, or names a time that does not
 * exist, such as 30 February.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const [fraction = '', sign, offsetHour = 0, offsetMinute = 0] = [
    match[7],
    match[8],
    Number(match[9] ?? 0),
    Number(match[10] ?? 0),
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Math.floor(Number(`0.${fraction || 0}`) * 1000));
  const isOnCalendar = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const isOnClock = hour < 24 && minute < 60 && second < 60 && offsetHour < 24 && offsetMinute < 60;
  if (!isOnCalendar || !isOnClock) return undefined;
  const offsetMs = offsetHour * HOUR_MS + offsetMinute * MINUTE_MS;
  return date.getTime() - (sign === '-' ? -offsetMs : offsetMs);
}
