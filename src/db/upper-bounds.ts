/**
 * Keeps upper bounds of sums that take long to read, one for each key: the sum that was read last, and all that was added since. What is
 * removed lowers the sum and not its bound, so a bound that is too high is read again.
 */
import type { LRUCache } from 'lru-cache';
import { createLru } from '../system/lru.ts';

/** Before the sum is read, `sum` has only what was added since the reading began. */
type Bound = { sum: number; isRead: boolean };

export class UpperBounds<Key extends string> {
  readonly #bounds: LRUCache<Key, Bound>;
  readonly #readSum: (key: Key) => Promise<number>;

  /** Keeps the bounds of at most `maxKeys` keys. `readSum` returns the sum of a key. */
  constructor(readSum: (key: Key) => Promise<number>, maxKeys: number) {
    this.#readSum = readSum;
    this.#bounds = createLru<Key, Bound>(maxKeys);
  }

  /** Returns whether the sum of a key fits, as `fits` says of a number. A bound that does not fit is read again first. */
  async doesFit(key: Key, fits: (sum: number) => boolean): Promise<boolean> {
    const bound = this.#bounds.get(key);
    return (bound?.isRead && fits(bound.sum)) || fits(await this.#read(key));
  }

  /** Takes into account what a write has added. Whoever commits such a write calls this. */
  add(key: Key, amount: number): void {
    const bound = this.#bounds.get(key);
    if (bound) bound.sum += amount;
  }

  async #read(key: Key): Promise<number> {
    // The bound is in its place before the sum is read, so that nothing is missed that is added meanwhile.
    const bound: Bound = { sum: 0, isRead: false };
    this.#bounds.set(key, bound);
    const sum = await this.#readSum(key);
    bound.sum += sum;
    bound.isRead = true;
    return bound.sum;
  }
}
