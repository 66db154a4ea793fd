/**
 * Decides what a failed post means for its endpoint: it is suspended for a while, its owner is warned after a day, and
 * it is disabled after five days in which nothing succeeded.
 */
import { DAY_MS } from '../../system/clock.ts';
import { MAX_SUSPENSION_MS, suspensionMs } from './schedule.ts';

/** Age of the failures at which the operator is warned. */
const WARN_AFTER_MS = DAY_MS;
/** Time without a success after which an endpoint is disabled. */
const DISABLE_AFTER_MS = 5 * DAY_MS;
/**
 * Number of failing deliveries that an endpoint must also have to be disabled, so that a short outage does not
 * disable it.
 */
const FAILING_DELIVERIES = 10;
const FAILING_FOR_MS = DAY_MS;
/** Time by which the first failing delivery may be older than its failed post. */
const FIRST_POST_MS = 60_000;

/** The stored fields of an endpoint about the failures since the last success. */
export type Failing = {
  /** Time since which every post has failed. Null when the last one succeeded or none was made yet. */
  failingSince: number | null;
  /** Time at which the operator was warned; null when not yet. */
  warnedAt: number | null;
  /** Number of failed posts since the last success. Posts that failed while the endpoint was suspended count as one. */
  consecutiveFailures: number;
  /** Time before which nothing is posted to it. */
  suspendedUntil: number | null;
};

/** The fields of an endpoint whose last post succeeded, or that got none yet. */
export const NOT_FAILING = {
  failingSince: null,
  warnedAt: null,
  consecutiveFailures: 0,
  suspendedUntil: null,
} as const satisfies Failing;

/** Returns the fields after another failed post, and whether this failure is the one of which the owner is warned. */
export function failedAgain(before: Failing, now: number): { failing: Failing; warns: boolean } {
  const failingSince = before.failingSince ?? now;
  const warns = before.warnedAt === null && now - failingSince >= WARN_AFTER_MS;
  return {
    failing: { failingSince, warnedAt: warns ? now : before.warnedAt, ...suspend(before, now) },
    warns,
  };
}

/**
 * Returns the time until which an endpoint is suspended; undefined when it is not. A later one than a suspension can last is
 * that of a clock which was set back.
 */
export function suspendedUntil({ suspendedUntil: until }: Failing, now: number): number | undefined {
  return until !== null && until > now && until <= now + MAX_SUSPENSION_MS ? until : undefined;
}

/** Suspends the endpoint. Posts that were made at the same time and fail together count as one failure. */
function suspend(before: Failing, now: number): Pick<Failing, 'consecutiveFailures' | 'suspendedUntil'> {
  const { consecutiveFailures } = before;
  const until = suspendedUntil(before, now);
  if (until !== undefined) return { consecutiveFailures, suspendedUntil: until };
  const failures = consecutiveFailures + 1;
  return { consecutiveFailures: failures, suspendedUntil: now + suspensionMs(failures) };
}

/** The deliveries that decide whether an endpoint is disabled. Times of creation are in Unix milliseconds. */
export type FailingWindow = { after: number; before: number; limit: number };

/**
 * Returns true when the endpoint has failed for days, with enough failing deliveries.
 *
 * @param countFailing returns the number of unsuccessful deliveries that were created in the window, at most `limit`
 */
export async function hasFailedTooLong(
  { failingSince }: Failing,
  now: number,
  countFailing: (window: FailingWindow) => Promise<number>,
): Promise<boolean> {
  const since = failingSince ?? now;
  if (now - since < DISABLE_AFTER_MS) return false;
  const window = { after: since - FIRST_POST_MS, before: now - FAILING_FOR_MS, limit: FAILING_DELIVERIES };
  return (await countFailing(window)) >= FAILING_DELIVERIES;
}
