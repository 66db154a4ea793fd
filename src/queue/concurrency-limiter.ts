/**
 * Runs work with a concurrency limit, such as DNS lookups. Tenants are served round-robin, and none uses so much of the
 * limit that another tenant would have to wait until one of its items ends (system/shares.ts). Within a tenant, items
 * start in the order in which they came, after those that were added first.
 */
import type { Shares } from '../system/shares.ts';
import { TenantLines } from './tenant-lines.ts';

type Options<Item> = {
  shares: Shares<string>;
  tenantOf(item: Item): string;
  /** Runs the item. The promise never rejects. */
  run(item: Item): Promise<void>;
};

export class ConcurrencyLimiter<Item> {
  readonly #options: Options<Item>;
  readonly #first = new TenantLines<Item>();
  readonly #waiting = new TenantLines<Item>();

  constructor(options: Options<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    this.#waiting.add(this.#options.tenantOf(item), item);
    this.#runWaiting();
  }

  /** Adds an item that starts before all others of its tenant. */
  addFirst(item: Item): void {
    this.#first.add(this.#options.tenantOf(item), item);
    this.#runWaiting();
  }

  #runWaiting(): void {
    for (;;) {
      const next = this.#next(this.#first) ?? this.#next(this.#waiting);
      if (!next) return;
      const { item, tenantId } = next;
      this.#options.shares.count(tenantId);
      void this.#options.run(item).finally(() => {
        this.#options.shares.release(tenantId);
        this.#runWaiting();
      });
    }
  }

  #next(lines: TenantLines<Item>): { item: Item; tenantId: string } | undefined {
    if (this.#options.shares.free === 0) return undefined;
    for (const tenantId of lines.tenants()) {
      if (!this.#options.shares.mayTake(tenantId)) continue;
      for (const item of lines.line(tenantId)) {
        lines.remove(tenantId, item);
        lines.moveLast(tenantId);
        return { item, tenantId };
      }
    }
    return undefined;
  }
}
