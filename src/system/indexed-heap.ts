/** A binary heap in which each item is found by its identity, so that any item can be removed or moved in logarithmic time. */

export class IndexedHeap<Item extends object> {
  readonly #items: Item[] = [];
  readonly #places = new Map<Item, number>();
  readonly #isBefore: (left: Item, right: Item) => boolean;

  /** Creates an empty heap. `isBefore` returns true when `left` must come out before `right`. */
  constructor(isBefore: (left: Item, right: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The item that comes out first. */
  get first(): Item | undefined {
    return this.#items[0];
  }

  /** Adds an item that is not in the heap. */
  add(item: Item): void {
    this.#put(item, this.#items.length);
    this.#raise(item);
  }

  /** Removes an item, which may have changed. Returns false when it is not in the heap. */
  delete(item: Item): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return true;
    this.#put(last, place);
    this.update(last);
    return true;
  }

  /** Moves an item of the heap that has changed to its new place. */
  update(item: Item): void {
    this.#raise(item);
    this.#lower(item);
  }

  #raise(item: Item): void {
    for (let place = this.#placeOf(item); place > 0; ) {
      const parent = (place - 1) >> 1;
      if (!this.#swapIfBefore(place, parent)) return;
      place = parent;
    }
  }

  #lower(item: Item): void {
    for (let place = this.#placeOf(item); ; ) {
      const child = this.#firstChild(place);
      if (child === undefined || !this.#swapIfBefore(child, place)) return;
      place = child;
    }
  }

  /** Returns the place of the child that comes out before its sibling; undefined when there is no child. */
  #firstChild(place: number): number | undefined {
    const left = 2 * place + 1;
    const [first, second] = [this.#items[left], this.#items[left + 1]];
    if (first === undefined) return undefined;
    return second !== undefined && this.#isBefore(second, first) ? left + 1 : left;
  }

  /** Swaps two items when the lower one comes out first. */
  #swapIfBefore(lower: number, upper: number): boolean {
    const [low, high] = [this.#items[lower], this.#items[upper]];
    if (low === undefined || high === undefined || !this.#isBefore(low, high)) return false;
    this.#put(low, upper);
    this.#put(high, lower);
    return true;
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }

  #placeOf(item: Item): number {
    return this.#places.get(item) ?? 0;
  }
}
