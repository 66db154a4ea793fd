/**
 * Limits how many of something may happen in a minute: recipients that are claimed, or connections that are opened. The
 * recipients of a claim count when it is made, so that a claim with many of them delays the next one instead of being split.
 */

const MINUTE_MS = 60_000;
/** Time whose recipients may be claimed at once. Providers that limit mail per second refuse longer bursts. */
const BURST_MS = 1_000;

/** Times are milliseconds of the monotonic clock. */
export class Rate {
  /** Maximum number of recipients of a claim, which is at least one. */
  readonly perClaim: number;
  readonly #intervalMs: number;
  /** Time at which everything claimed so far would have been sent, one recipient after another. */
  #claimedUntil = Number.NEGATIVE_INFINITY;

  constructor(recipientsPerMinute: number) {
    this.#intervalMs = MINUTE_MS / recipientsPerMinute;
    this.perClaim = Math.max(1, Math.floor(BURST_MS / this.#intervalMs));
  }

  /** Returns the time until the next claim may be made; 0 means now. */
  waitMs(now: number): number {
    return Math.max(0, Math.ceil(this.#claimedUntil - now));
  }

  /** Counts claimed recipients. */
  spend(recipients: number, now: number): void {
    this.#claimedUntil = Math.max(this.#claimedUntil, now) + recipients * this.#intervalMs;
  }
}
