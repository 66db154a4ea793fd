/** Waiting times with jitter, so that what failed together does not come back together. */
import type { Random } from './random.ts';

/** `base` moved by up to ±`share` of itself (0.1 = ±10 %). Milliseconds in, whole milliseconds out. */
export function jitter(random: Random, baseMs: number, share: number): number {
  return Math.round(baseMs * (1 + share * (2 * random() - 1)));
}
