/**
 * Queues items by owner. Owners are served round-robin, so a long queue of one owner does not delay the others. Within
 * an owner, items are served in the order in which they came.
 */
export class RoundRobin<Item> {
  readonly #queues = new Map<string, Set<Item>>();
  /** Number of items that `takeTurn` has returned of owners whose turn has not ended. */
  readonly #served = new Map<string, number>();
  #size = 0;

  /** Number of items of all owners. */
  get size(): number {
    return this.#size;
  }

  /** Returns true when the owner has items. */
  has(owner: string): boolean {
    return this.#queues.has(owner);
  }

  /** Returns the number of items of the owner. */
  count(owner: string): number {
    return this.#queues.get(owner)?.size ?? 0;
  }

  /** Yields the owners that have items, starting with the one to be served next. */
  owners(): Iterable<string> {
    return this.#queues.keys();
  }

  /** Yields the owner's items, the longest waiting first. Items may be removed during the iteration. */
  itemsOf(owner: string): Iterable<Item> {
    return this.#queues.get(owner) ?? [];
  }

  /** Adds an item. An item that is already queued keeps its position. */
  add(owner: string, item: Item): void {
    const queue = this.#queues.get(owner) ?? new Set();
    if (queue.has(item)) return;
    queue.add(item);
    this.#queues.set(owner, queue);
    this.#size += 1;
  }

  remove(owner: string, item: Item): void {
    const queue = this.#queues.get(owner);
    if (!queue?.delete(item)) return;
    this.#size -= 1;
    if (queue.size > 0) return;
    this.#queues.delete(owner);
    this.#served.delete(owner);
  }

  /** Removes and returns the next item of the next owner that may be served, and moves that owner behind all others. */
  take(mayServe: (owner: string) => boolean): Item | undefined {
    for (const [owner, queue] of this.#queues) {
      if (!mayServe(owner)) continue;
      for (const item of queue) {
        this.remove(owner, item);
        this.moveLast(owner);
        return item;
      }
    }
    return undefined;
  }

  /**
   * Returns the next item of the next owner that may be served, and moves it behind the others of its owner. The turn of an owner has as
   * many items as its weight, which is at least 1; then the owner moves behind all others. One that may not be served meanwhile
   * keeps its place and the rest of its turn.
   */
  takeTurn(mayServe: (owner: string) => boolean, weightOf: (owner: string) => number): Item | undefined {
    for (const [owner, queue] of this.#queues) {
      if (!mayServe(owner)) continue;
      for (const item of queue) {
        queue.delete(item);
        queue.add(item);
        this.#countServed(owner, weightOf(owner));
        return item;
      }
    }
    return undefined;
  }

  #countServed(owner: string, weight: number): void {
    const served = (this.#served.get(owner) ?? 0) + 1;
    if (served < weight) return void this.#served.set(owner, served);
    this.#served.delete(owner);
    this.moveLast(owner);
  }

  /** Moves the owner behind all others. */
  moveLast(owner: string): void {
    const queue = this.#queues.get(owner);
    if (!queue) return;
    this.#queues.delete(owner);
    this.#queues.set(owner, queue);
  }
}
