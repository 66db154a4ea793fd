/**
 * Token buckets by name: each holds at most `burst` tokens and gains some every second; a request takes one. The number
 * of buckets is bounded: the least recently used one is dropped first, and is full when it is created again.
 */

import type { Clock } from '../clock.ts';
import { createLru } from '../lru.ts';

type BucketSize = { tokensPerSecond: number; burst: number };

export type TokenBuckets = {
  /** Takes one token, if there is one. `tokens` is the number left in the bucket, in fractions. */
  take(name: string, size: BucketSize): { allowed: boolean; tokens: number };
  /** Takes one token for what has happened already. Where there is none, the bucket owes it, at most `burst` of them. */
  charge(name: string, size: BucketSize): void;
  /** Returns true when there is a token, and takes none. */
  mayTake(name: string, size: BucketSize): boolean;
};

/** Returns buckets that are all full. */
export function createTokenBuckets(clock: Pick<Clock, 'elapsed'>, maxBuckets: number): TokenBuckets {
  const buckets = createLru<string, { tokens: number; atMs: number }>(maxBuckets);
  const heldAt = (name: string, atMs: number, { tokensPerSecond, burst }: BucketSize): number => {
    const before = buckets.get(name);
    if (!before) return burst;
    return Math.min(burst, before.tokens + ((atMs - before.atMs) / 1_000) * tokensPerSecond);
  };
  return {
    take(name, size) {
      const atMs = clock.elapsed();
      const held = heldAt(name, atMs, size);
      const allowed = held >= 1;
      const tokens = allowed ? held - 1 : held;
      buckets.set(name, { tokens, atMs });
      return { allowed, tokens };
    },
    charge(name, size) {
      const atMs = clock.elapsed();
      buckets.set(name, { tokens: Math.max(heldAt(name, atMs, size) - 1, -size.burst), atMs });
    },
    mayTake: (name, size) => heldAt(name, clock.elapsed(), size) >= 1,
  };
}
