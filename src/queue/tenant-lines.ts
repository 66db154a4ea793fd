/**
 * Queues items, one queue for each tenant. Tenants are served round-robin, so a long queue of one tenant does not
 * delay the others. Delivery queues, lookups and sites that need a connection are queued in this way.
 */

export class TenantLines<Item> {
  readonly #lines = new Map<string, Set<Item>>();
  #size = 0;

  /** Number of items of all tenants. */
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

  /** Yields the tenants that have items, starting with the one to be served next. */
  tenants(): Iterable<string> {
    return this.#lines.keys();
  }

  /** Yields the tenant's items, the longest waiting first. Items may be removed during the iteration. */
  line(tenantId: string): Iterable<Item> {
    return this.#lines.get(tenantId) ?? [];
  }

  /** Adds an item. An item that is already queued keeps its position. */
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

  /** Moves the tenant behind all others. */
  moveLast(tenantId: string): void {
    const line = this.#lines.get(tenantId);
    if (!line) return;
    this.#lines.delete(tenantId);
    this.#lines.set(tenantId, line);
  }
}
