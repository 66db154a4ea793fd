/** Things that arrive one by one and are waited for: received mail, webhook posts. */
import { realClock, withTimeout } from '../../system/clock.ts';

export type Arrivals<Item> = {
  add(item: Item): void;
  /** The first that satisfies, whether it came already or is yet to come. @throws TimeoutError */
  first(what: string, satisfies: (item: Item) => boolean): Promise<Item>;
  /** Called for each, those that came already too. */
  each(run: (item: Item) => void): void;
};

const MAX_WAIT_MS = 20_000;

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
      return withTimeout(realClock, MAX_WAIT_MS, what, coming);
    },
    each(run) {
      items.forEach(run);
      listeners.push(run);
    },
  };
}
