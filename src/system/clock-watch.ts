/**
 * Notices a wall clock that was set back: between two checks by the monotonic clock, and since the last stop by the
 * latest stored time. It only reports; the caller decides how stored times change.
 */
import type { Clock } from './clock.ts';

/**
 * Minimum set-back that is reported, in milliseconds. NTP corrects smaller steps every day, and they delay mail by less
 * than a minute.
 */
const MIN_SET_BACK_MS = 60_000;

export class ClockWatch {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>;
  /** Latest wall time that is known to have passed. */
  #latestMs: number;
  /** Wall time and monotonic time of the last check. `elapsedMs` is undefined until the first check in this process. */
  #last: { wallMs: number; elapsedMs: number | undefined };

  /** `lastKnownMs` is the wall time that an earlier start of the daemon stored last. */
  constructor(clock: Pick<Clock, 'now' | 'elapsed'>, lastKnownMs: number) {
    this.#clock = clock;
    this.#latestMs = lastKnownMs;
    this.#last = { wallMs: lastKnownMs, elapsedMs: undefined };
  }

  /** Time by which the wall clock is behind the latest known time; 0 when it is less than a minute. */
  get behindMs(): number {
    const behindMs = this.#latestMs - this.#clock.now();
    return behindMs >= MIN_SET_BACK_MS ? behindMs : 0;
  }

  /**
   * Returns by how much the wall clock was set back since the last check; 0 when it is less than a minute, or when the
   * clock moved forward.
   */
  check(): number {
    const [wallMs, elapsedMs] = [this.#clock.now(), this.#clock.elapsed()];
    const passedMs = this.#last.elapsedMs === undefined ? 0 : elapsedMs - this.#last.elapsedMs;
    const expectedMs = this.#last.wallMs + passedMs;
    const setBackMs = Math.round(expectedMs - wallMs);
    this.#latestMs = Math.max(this.#latestMs, expectedMs, wallMs);
    this.#last = { wallMs, elapsedMs };
    return setBackMs >= MIN_SET_BACK_MS ? setBackMs : 0;
  }
}
