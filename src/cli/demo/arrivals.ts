/** Items that arrive one by one, such as received mail and webhook posts, and functions that wait for them. */
import { realClock, withTimeout } from '../../system/clock.ts';

export type Arrivals<Item> = {
  add(item: Item): void;
  /**
   * Returns the first item that satisfies the condition, whether it has arrived already or arrives later.
   * @throws TimeoutError
   */
  first(what: string, satisfies: (item: Item) => boolean): Promise<Item>;
  /** Calls `run` for every item, including those that have arrived already. */
  each(run: (item: Item) => void): void;
};

/** Maximum wait for an item that the demo expects. */
const MAX_WAIT_MS = 20_000;

/** Returns a list without items. */
export function createArrivals<Item>(): Arrivals<Item> {
  const items: Item[] = [];
  const listeners: ((item: Item) => void)[] = [];
  return {
    add(item) {
      items.push(item);
      for (const listener of listeners) listener(item);
    },
    first(what, satisfies) {
      const coming = new Promise<Item>((resolve) => {
        const found = items.find(satisfies);
        if (found) resolve(found);
        else listeners.push((item) => satisfies(item) && resolve(item));
      });
      return withTimeout(realClock, coming, { timeoutMs: MAX_WAIT_MS, what });
    },
    each(run) {
      items.forEach(run);
      listeners.push(run);
    },
  };
}
