/**
 * Computes when a failed post is retried, and for how long its endpoint is suspended. An endpoint is what is posted to:
 * a webhook endpoint, or an inbound route.
 */
import { jitter } from '../../system/backoff.ts';
import type { Random } from '../../system/random.ts';
import type { PostOutcome } from './post.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Delays after the first attempt, the second one, and so on. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];
/** Maximum number of posts of one delivery: the first one, and one after each delay. */
export const MAX_ATTEMPTS = RETRY_DELAYS_MS.length + 1;

const JITTER_SHARE = 0.1;
/** Maximum delay that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 10 * HOUR_MS;

/** Returns the delay after the attempt with this number, in milliseconds; undefined when it was the last one. */
export function postRetryDelayMs(
  { attempts, retryAfterMs = 0 }: { attempts: number; retryAfterMs: number | undefined },
  random: Random,
): number | undefined {
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return undefined;
  return Math.max(jitter(random, delayMs, JITTER_SHARE), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

/** The state of a delivery after a post: it has ended, or is due again. */
export type NextAttempt =
  | { state: 'delivered' | 'failed' | 'skipped'; dueAt: null }
  /** `dueAt` is the time of the next post in Unix milliseconds. */
  | { state: 'pending'; dueAt: number };

/** Returns the state of a delivery after its attempt with this number. */
export function nextAttempt(
  attempts: number,
  outcome: PostOutcome,
  { now, random }: { now: number; random: Random },
): NextAttempt {
  if (outcome.kind === 'delivered') return { state: 'delivered', dueAt: null };
  if (outcome.kind === 'gone') return { state: 'failed', dueAt: null };
  const retryAfterMs = outcome.kind === 'refused' ? outcome.retryAfterMs : undefined;
  const delayMs = postRetryDelayMs({ attempts, retryAfterMs }, random);
  return delayMs === undefined
    ? { state: 'failed', dueAt: null }
    : { state: 'pending', dueAt: now + delayMs };
}

/**
 * First suspension, in milliseconds. An endpoint that refuses each post at once gets at most four posts a second,
 * however many are due.
 */
const FIRST_SUSPENSION_MS = 250;
/** Maximum suspension, in milliseconds. A receiver that has recovered gets its posts within a minute. */
export const MAX_SUSPENSION_MS = MINUTE_MS;

/**
 * Returns the time for which an endpoint is suspended after its `failures`-th failed post in a row: it doubles each
 * time.
 */
export function suspensionMs(failures: number): number {
  return Math.min(FIRST_SUSPENSION_MS * 2 ** (failures - 1), MAX_SUSPENSION_MS);
}
