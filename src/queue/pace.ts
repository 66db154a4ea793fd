/**
 * How fast a place is served: how many connections at once, learnt from what it bears, and when not at all. A place
 * whose hosts cannot be reached rests, and is then tried by one delivery before the others (engine.md 4).
 */
import { jitter } from '../system/backoff.ts';
import type { Random } from '../system/random.ts';
import type { Outcome } from './outcome.ts';
import { retryDelayMs } from './schedule.ts';

/** engine.md 4, per-site control: two to begin with, one more after each round of deliveries. */
const FIRST_CONNECTIONS = 2;
const FAILURES_BEFORE_REST = 5;
const MINUTE_MS = 60_000;
const REST_MINUTES = [2, 5, 15, 30] as const;
const JITTER_SHARE = 0.1;
/**
 * Time for which a delivery proves that a site accepts mail, in milliseconds. The first failure ends it earlier, so the
 * period only has to tell hosts that are in use from unknown ones; an hour covers the pauses of a tenant that sends now
 * and then.
 */
const RECENT_DELIVERY_MS = 60 * MINUTE_MS;

type Rest = { until: number; outcome: Outcome };

/** Times are of the monotonic clock. */
export class Pace {
  readonly #most: number;
  #connections: number;
  #deliveredInRound = 0;
  #failures = 0;
  #rests = 0;
  #rest: Rest | undefined;
  #provenUntil = 0;

  constructor(most: number) {
    this.#most = most;
    this.#connections = Math.min(FIRST_CONNECTIONS, most);
  }

  /** Connections it may have now. */
  get connections(): number {
    return this.#connections;
  }

  /**
   * Returns true when the site is known to accept mail: it has delivered within the last hour, and nothing has failed
   * since.
   */
  isProven(now: number): boolean {
    return now < this.#provenUntil;
  }

  delivered(now: number): void {
    this.#provenUntil = now + RECENT_DELIVERY_MS;
    this.#deliveredInRound++;
    if (this.#deliveredInRound < this.#connections) return;
    this.#deliveredInRound = 0;
    this.#connections = Math.min(this.#connections + 1, this.#most);
  }

  connected(): void {
    this.#failures = 0;
    this.#rests = 0;
    this.#rest = undefined;
  }

  /**
   * Records that a host did not answer, or broke off, in the middle of a delivery. The next message may still succeed.
   */
  brokeOff(): void {
    this.#provenUntil = 0;
  }

  /** No host could be talked to, or one asked for less. */
  refused(outcome: Outcome, now: number): void {
    this.#provenUntil = 0;
    this.#failures++;
    this.#deliveredInRound = 0;
    this.#connections = Math.max(1, Math.floor(this.#connections / 2));
    // Those that were under way when the rest began say nothing new.
    const isResting = this.#rest !== undefined && this.#rest.until > now;
    if (this.#failures < FAILURES_BEFORE_REST || isResting) return;
    const minutes = REST_MINUTES[Math.min(this.#rests, REST_MINUTES.length - 1)] ?? 0;
    this.#rests++;
    this.#rest = { until: now + minutes * MINUTE_MS, outcome };
  }

  /** While it rests: what is said of mail for it, which waits at least until the rest is over. */
  resting(random: Random, now: number, attempts: number): Outcome | undefined {
    const rest = this.#rest;
    if (!rest || rest.until <= now) return undefined;
    const { report } = rest.outcome;
    const waitMs = jitter(random, rest.until - now, JITTER_SHARE);
    return {
      kind: 'deferred',
      report: {
        ...report,
        text: `Not tried, after ${this.#failures} failures in a row. Last: ${report.text}`,
      },
      retryAfterMs: Math.max(waitMs, retryDelayMs(random, attempts)),
    };
  }
}
