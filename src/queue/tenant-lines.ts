/**
 * Items that wait, in one line for each tenant. Tenants take turns, so that the length of one tenant's line does not
 * delay the others. Lanes, lookups and sites that need a connection wait in this way.
 */

export class TenantLines<Item> {
  readonly #lines = new Map<string, Set<Item>>();
  #size = 0;

  /** Number of items in all lines. */
  get size(): number {
    return this.#size;
  }

  has(tenantId: string): boolean {
    return this.#lines.has(tenantId);
  }

  /** Number of items of the tenant. */
  count(tenantId: string): number {
    return this.#lines.get(tenantId)?.size ?? 0;
  }

  /** Tenants that have items, the one whose turn it is first. */
  tenants(): Iterable<string> {
    return this.#lines.keys();
  }

  /** The tenant's items, the longest waiting first. Items may be removed during the iteration. */
  line(tenantId: string): Iterable<Item> {
    return this.#lines.get(tenantId) ?? [];
  }

  /** An item that already waits keeps its position. */
  add(tenantId: string, item: Item): void {
    const line = this.#lines.get(tenantId) ?? new Set();
    if (line.has(item)) return;
    line.add(item);
    this.#lines.set(tenantId, line);
    this.#size += 1;
  }

  remove(tenantId: string, item: Item): void {
    const line = this.#lines.get(tenantId);
    if (!line?.delete(item)) return;
    this.#size -= 1;
    if (line.size === 0) this.#lines.delete(tenantId);
  }

  /** Ends the tenant's turn: all other tenants come before it. */
  moveLast(tenantId: string): void {
    const line = this.#lines.get(tenantId);
    if (!line) return;
    this.#lines.delete(tenantId);
    this.#lines.set(tenantId, line);
  }
}
