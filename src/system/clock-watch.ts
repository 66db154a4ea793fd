/**
 * Notices a wall clock that was set back: between two looks, by the monotonic clock, and since the last stop, by the
 * latest time that is stored. It only reports; what becomes of times that were stored before is the caller's decision.
 */
import type { Clock } from './clock.ts';

/** NTP corrects smaller steps every day, and nobody waits noticeably longer for them. Our own limit. */
export const MIN_SET_BACK_MS = 60_000;

export class ClockWatch {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>;
  /** Latest wall time that is known to have passed. */
  #latestMs: number;
  /** Wall time and monotonic time of the last look. `elapsedMs` is undefined until the first one in this process. */
  #last: { wallMs: number; elapsedMs: number | undefined };

  /** `lastKnownMs` is the wall time an earlier start of the daemon stored last. */
  constructor(clock: Pick<Clock, 'now' | 'elapsed'>, lastKnownMs: number) {
    this.#clock = clock;
    this.#latestMs = lastKnownMs;
    this.#last = { wallMs: lastKnownMs, elapsedMs: undefined };
  }

  /** How far the wall clock is behind the latest time that was seen; 0 when it is less than a minute. */
  get behindMs(): number {
    const behindMs = this.#latestMs - this.#clock.now();
    return behindMs >= MIN_SET_BACK_MS ? behindMs : 0;
  }

  /** How far the wall clock was set back since the last look; 0 when it is less than a minute, or forward. */
  look(): number {
    const [wallMs, elapsedMs] = [this.#clock.now(), this.#clock.elapsed()];
    const passedMs = this.#last.elapsedMs === undefined ? 0 : elapsedMs - this.#last.elapsedMs;
    const expectedMs = this.#last.wallMs + passedMs;
    const setBackMs = Math.round(expectedMs - wallMs);
    this.#latestMs = Math.max(this.#latestMs, expectedMs, wallMs);
    this.#last = { wallMs, elapsedMs };
    return setBackMs >= MIN_SET_BACK_MS ? setBackMs : 0;
  }
}
