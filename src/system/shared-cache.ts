/**
 * A cache of bounded size that several owners share. When it is full, an owner that holds more than an equal share
 * loses the entry that it has not used for the longest time, so an owner with many entries never pushes out those of an
 * owner with few.
 */
type Entries<Value> = { bytes: number; byKey: Map<string, { value: Value; bytes: number }> };

/** Size that counts for an entry besides its value. An entry with a key of 30 characters takes about this much. */
const ENTRY_BYTES = 200;

export class SharedCache<Value> {
  readonly #maxBytes: number;
  readonly #owners = new Map<string, Entries<Value>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns a value of the owner. Values of other owners are not found. */
  get(owner: string, key: string): Value | undefined {
    const byKey = this.#owners.get(owner)?.byKey;
    const entry = byKey?.get(key);
    if (!byKey || !entry) return undefined;
    byKey.delete(key);
    byKey.set(key, entry);
    return entry.value;
  }

  /** Remembers a value of this size, unless it is larger than the share of its owner. */
  set(owner: string, key: string, { value, bytes }: { value: Value; bytes: number }): void {
    this.#delete(owner, key);
    const entries = this.#owners.get(owner) ?? { bytes: 0, byKey: new Map() };
    this.#owners.set(owner, entries);
    entries.byKey.set(key, { value, bytes: bytes + ENTRY_BYTES });
    this.#count(entries, bytes + ENTRY_BYTES);
    while (this.#bytes > this.#maxBytes) this.#deleteOldest(this.#isOver(entries) ? owner : this.#findOver());
  }

  #isOver({ bytes }: Entries<Value>): boolean {
    return bytes * this.#owners.size >= this.#bytes;
  }

  /** Returns an owner that holds at least an equal share. There always is one. */
  #findOver(): string {
    for (const [owner, entries] of this.#owners) if (this.#isOver(entries)) return owner;
    throw new Error('every owner holds less than the average');
  }

  #deleteOldest(owner: string): void {
    const [key] = this.#owners.get(owner)?.byKey.keys() ?? [];
    if (key !== undefined) this.#delete(owner, key);
  }

  #delete(owner: string, key: string): void {
    const entries = this.#owners.get(owner);
    const entry = entries?.byKey.get(key);
    if (!entries || !entry) return;
    entries.byKey.delete(key);
    this.#count(entries, -entry.bytes);
    if (entries.byKey.size === 0) this.#owners.delete(owner);
  }

  #count(entries: Entries<Value>, bytes: number): void {
    entries.bytes += bytes;
    this.#bytes += bytes;
  }
}
