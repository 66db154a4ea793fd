/** Delays with jitter, so that operations that failed together are not retried together. */
import type { Random } from './random.ts';

/**
 * Returns `baseMs` changed by a random amount of at most ±`share` of it (0.1 = ±10 %), rounded to whole milliseconds.
 */
export function jitter(random: Random, baseMs: number, share: number): number {
  return Math.round(baseMs * (1 + share * (2 * random() - 1)));
}
