/**
 * Learns from deliveries to a site: how many connections it takes, whether it accepts mail, and until when it rests
 * because it does not. Times are milliseconds of the monotonic clock.
 */
import type { Refusal } from './events.ts';

/** Number of connections to a new site. One more is allowed after each round of deliveries. */
const FIRST_CONNECTIONS = 2;
/** Failures in a row, without an accepted message between them, after which a site rests. */
const FAILURES_BEFORE_REST = 5;
const MINUTE_MS = 60_000;
/**
 * Rest of a site that cannot be reached. It is short, so that mail leaves within a minute once the site is back; one message
 * tries it each time.
 */
const UNREACHABLE_REST_MS = 45_000;
/** Number of short rests in a row. A site that is away for an hour is tried less often from then on. */
const SHORT_RESTS = 60;
const LONG_UNREACHABLE_REST_MS = 5 * MINUTE_MS;
/** Rests of a site that says goodbye, one after another. */
const GOODBYE_RESTS_MS = [2, 5, 15, 30].map((minutes) => minutes * MINUTE_MS);
/**
 * Time for which an accepted message proves that a site takes mail. The first failure ends it earlier, so the time only has
 * to tell hosts that are in use from unknown ones; an hour covers the pauses of a tenant that sends now and then.
 */
const PROVEN_FOR_MS = 60 * MINUTE_MS;
/** Time after which a site that refused another connection is asked for one more. */
const CEILING_FOR_MS = 10 * MINUTE_MS;

type Rest = { until: number; reason: string };

/** The knowledge of a site at a moment. */
export type LearnedState = {
  /** Number of connections that the site may have by what it has accepted and refused, of any number. */
  connections: number;
  /** Time until which it gets no more than these, because it has refused another one; null when it has not. */
  ceilingUntil: number | null;
  /** Failures in a row. */
  failures: number;
  rest: Rest | null;
  isProbed: boolean;
};

export class Learned {
  #connections = FIRST_CONNECTIONS;
  /** Maximum number of connections that the site has shown to take, until a time. */
  #ceiling: { connections: number; until: number } | undefined;
  #acceptedInRound = 0;
  #failures = 0;
  #rests = 0;
  #rest: Rest | undefined;
  #isProbed = false;
  #provenUntil = 0;

  /** Returns the number of connections that the site may have now, of at most `maximum`. */
  connections(maximum: number, now: number): number {
    if (this.#isProbed) return 1;
    const ceiling = this.#ceilingAt(now)?.connections ?? maximum;
    return Math.max(1, Math.min(this.#connections, ceiling, maximum));
  }

  /** Returns all that is known of the site, for the operator. */
  stateAt(now: number): LearnedState {
    return {
      connections: this.connections(Number.POSITIVE_INFINITY, now),
      ceilingUntil: this.#ceilingAt(now)?.until ?? null,
      failures: this.#failures,
      rest: this.restAt(now) ?? null,
      isProbed: this.#isProbed,
    };
  }

  /** Returns the rest of the site; undefined when it does not rest now. */
  restAt(now: number): Rest | undefined {
    return this.#rest && now < this.#rest.until ? this.#rest : undefined;
  }

  /** True when one message has to try the site before others: it has rested, and has accepted nothing since. */
  get isProbed(): boolean {
    return this.#isProbed;
  }

  /** Returns true when the site has accepted mail within the last hour, and nothing has failed since. */
  isProven(now: number): boolean {
    return now < this.#provenUntil;
  }

  /** Records an accepted message. Nothing else clears the failures: a site may greet every connection and take no mail. */
  accepted(maximum: number, now: number): void {
    this.#provenUntil = now + PROVEN_FOR_MS;
    this.#failures = 0;
    this.#rests = 0;
    this.#rest = undefined;
    this.#isProbed = false;
    if (++this.#acceptedInRound < this.#connections) return;
    this.#acceptedInRound = 0;
    // After the ceiling, the site is asked for one connection more, not for as many as there were rounds.
    const ceiling = this.#ceilingAt(now)?.connections ?? maximum;
    this.#connections = Math.min(this.#connections + 1, ceiling, maximum);
  }

  /** Records that a peer broke off in the middle of a message. Five failures in a row let the site rest. */
  brokeOff(text: string, now: number): void {
    this.#provenUntil = 0;
    this.#failed('unreachable', text, now);
  }

  /**
   * Records that the site could not be reached, or asked for fewer connections. `others` is the number of its other
   * connections that work: then the site takes so many and no more. Five failures in a row let it rest.
   */
  refused({ kind, text }: Refusal, { others, now }: { others: number; now: number }): void {
    this.#acceptedInRound = 0;
    if (kind === 'goodbye' && others > 0) {
      this.#connections = Math.min(this.#connections, others);
      this.#ceiling = { connections: others, until: now + CEILING_FOR_MS };
    } else {
      this.#provenUntil = 0;
      this.#connections = Math.max(1, Math.floor(this.#connections / 2));
    }
    this.#failed(kind, text, now);
  }

  /** Lets one message try the site before others, because a rule lets it rest. */
  probeFirst(): void {
    this.#isProbed = true;
  }

  /** Ends the rest, so that one message tries the site now. */
  endRest(): void {
    this.#rest = undefined;
  }

  #ceilingAt(now: number): { connections: number; until: number } | undefined {
    return this.#ceiling && now < this.#ceiling.until ? this.#ceiling : undefined;
  }

  #failed(kind: Refusal['kind'], text: string, now: number): void {
    this.#failures++;
    // A delivery that was under way when the rest began says nothing new.
    if (this.#failures < FAILURES_BEFORE_REST || this.restAt(now)) return;
    const reason = `${this.#failures} failures in a row. Last: ${text}`;
    this.#rest = { until: now + restMs(kind, this.#rests), reason };
    this.#isProbed = true;
    this.#rests++;
  }
}

function restMs(kind: Refusal['kind'], rests: number): number {
  if (kind === 'unreachable') return rests < SHORT_RESTS ? UNREACHABLE_REST_MS : LONG_UNREACHABLE_REST_MS;
  return GOODBYE_RESTS_MS[Math.min(rests, GOODBYE_RESTS_MS.length - 1)] ?? 0;
}
