/**
 * Decides which connection of a full listener ends first: one of the network that has the most connections in the queue, and among
 * those the one that has waited longest. Each step takes logarithmic time, because strangers decide how often it is taken.
 */
import { IndexedHeap } from '../indexed-heap.ts';

/** A connection that may be ended. The fields do not change while it is in the queue. */
export type Evictable = {
  /** Name of the network that the client belongs to (`addressNetwork`). */
  readonly network: string;
  /** Time of the last progress, on the monotonic clock. */
  readonly since: number;
  /** Grows with each connection, and decides between equal times. */
  readonly serial: number;
};

export class EvictionQueue<Item extends Evictable> {
  readonly #networks = new Map<string, IndexedHeap<Item>>();
  readonly #order = new IndexedHeap<IndexedHeap<Item>>((left, right) =>
    left.size === right.size ? isOlder(left.first, right.first) : left.size > right.size,
  );

  /** Adds a connection that is not in the queue. */
  add(item: Item): void {
    const members = this.#networks.get(item.network);
    if (members) {
      members.add(item);
      this.#order.update(members);
      return;
    }
    const added = new IndexedHeap<Item>(isOlder);
    added.add(item);
    this.#networks.set(item.network, added);
    this.#order.add(added);
  }

  /** Removes a connection, if it is in the queue. */
  delete(item: Item): void {
    const members = this.#networks.get(item.network);
    if (!members?.delete(item)) return;
    if (members.size > 0) {
      this.#order.update(members);
      return;
    }
    this.#networks.delete(item.network);
    this.#order.delete(members);
  }

  /** The connection that ends first. Among networks of the same size, it is the one that has waited longest. */
  get first(): Item | undefined {
    return this.#order.first?.first;
  }
}

function isOlder(left: Evictable | undefined, right: Evictable | undefined): boolean {
  if (!left || !right) return false;
  return left.since === right.since ? left.serial < right.serial : left.since < right.since;
}
