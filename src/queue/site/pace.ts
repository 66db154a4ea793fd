/**
 * Paces the deliveries to a site. It learns how many connections the site accepts at once. A site whose hosts cannot be
 * reached is suspended; then one delivery tries it before the others.
 */
import { jitter } from '../../system/backoff.ts';
import type { Random } from '../../system/random.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { retryDelayMs } from '../schedule.ts';

/** Number of connections to a new site. One more is allowed after each round of deliveries. */
const FIRST_CONNECTIONS = 2;
const FAILURES_BEFORE_SUSPENSION = 5;
const MINUTE_MS = 60_000;
const SUSPENSION_MINUTES = [2, 5, 15, 30] as const;
const JITTER_SHARE = 0.1;
/**
 * Time for which a delivery proves that a site accepts mail, in milliseconds. The first failure ends it earlier, so the
 * period only has to tell hosts that are in use from unknown ones; an hour covers the pauses of a tenant that sends now
 * and then.
 */
const RECENT_DELIVERY_MS = 60 * MINUTE_MS;

type Suspension = { suspendedUntil: number; outcome: Outcome };

/** The pace of one site. Times are milliseconds of the monotonic clock. */
export class Pace {
  readonly #maxConnections: number;
  #connections: number;
  #deliveredInRound = 0;
  #failures = 0;
  #suspensions = 0;
  #suspension: Suspension | undefined;
  #provenUntil = 0;

  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections;
    this.#connections = Math.min(FIRST_CONNECTIONS, maxConnections);
  }

  /** Number of connections that the site may have now. */
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
    this.#connections = Math.min(this.#connections + 1, this.#maxConnections);
  }

  connected(): void {
    this.#failures = 0;
    this.#suspensions = 0;
    this.#suspension = undefined;
  }

  /**
   * Records that a host did not answer, or broke off, in the middle of a delivery. The next message may still succeed.
   */
  brokeOff(): void {
    this.#provenUntil = 0;
  }

  /**
   * Records that no host could be reached, or that a host asked for fewer connections. Halves the connections; after
   * five failures in a row, the site is suspended.
   */
  refused(outcome: Outcome, now: number): void {
    this.#provenUntil = 0;
    this.#failures++;
    this.#deliveredInRound = 0;
    this.#connections = Math.max(1, Math.floor(this.#connections / 2));
    // A delivery that was under way when the suspension began says nothing new.
    const isSuspended = this.#suspension !== undefined && this.#suspension.suspendedUntil > now;
    if (this.#failures < FAILURES_BEFORE_SUSPENSION || isSuspended) return;
    const minutes = SUSPENSION_MINUTES[Math.min(this.#suspensions, SUSPENSION_MINUTES.length - 1)] ?? 0;
    this.#suspensions++;
    this.#suspension = { suspendedUntil: now + minutes * MINUTE_MS, outcome };
  }

  /** Returns the outcome of mail for a suspended site: it is deferred at least until the suspension ends. */
  suspendedOutcome(random: Random, now: number, attempts: number): Outcome | undefined {
    const suspension = this.#suspension;
    if (!suspension || suspension.suspendedUntil <= now) return undefined;
    const { report } = suspension.outcome;
    const waitMs = jitter(random, suspension.suspendedUntil - now, JITTER_SHARE);
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
