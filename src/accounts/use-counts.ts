/** Counts who needs something, such as a file or a content, so that it is not removed meanwhile. */
export class UseCounts<Key extends string | number> {
  readonly #counts = new Map<Key, number>();

  add(key: Key): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Takes back one `add`. */
  delete(key: Key): void {
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }

  has(key: Key): boolean {
    return this.#counts.has(key);
  }
}
