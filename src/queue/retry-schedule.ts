/**
 * The retry schedule. The first retries come quickly, since most deferrals are greylisting; later retries come every four hours. settle.ts
 * uses the delay unless the outcome names another one (`retryAfterMs`), and ends the mail that expires before the next attempt.
 */
import { jitter } from '../system/backoff.ts';
import type { Random } from '../system/random.ts';

const MINUTE_MS = 60_000;
const RETRY_MINUTES = [1, 5, 10, 20, 40, 60, 120, 240] as const;
const LAST_RETRY_MINUTES = 240;
const JITTER_SHARE = 0.1;
/** Maximum time between two attempts. Mail that is due later than that is scheduled mail. */
export const MAX_RETRY_DELAY_MS = LAST_RETRY_MINUTES * MINUTE_MS * (1 + JITTER_SHARE);

/** Returns the delay until the next attempt, in milliseconds. `attempts` includes the one that just failed. */
export function retryDelayMs(random: Random, attempts: number): number {
  const minutes = RETRY_MINUTES[attempts - 1] ?? LAST_RETRY_MINUTES;
  return jitter(random, minutes * MINUTE_MS, JITTER_SHARE);
}
