/**
 * Chooses the tenant whose job runs next. A tenant has one job at a time, and the tenant that was served longest ago
 * comes first. However many long files a tenant has queued, another tenant waits only for the running jobs.
 */
import type { TenantRow } from '../db/tables.ts';

type TenantId = TenantRow['id'];
type Waiting = { tenantId: TenantId; dueAt: number };

/** Maximum number of tenants whose last service is remembered. */
const MAX_REMEMBERED = 1_000;

export class RoundRobin {
  readonly #running = new Set<TenantId>();
  /** Tenants in the order in which they were last served. */
  readonly #served = new Set<TenantId>();
  #waiting: readonly Waiting[] = [];

  /** Returns up to `limit` tenants whose job runs next. `waiting` has every tenant with a job that has not ended. */
  choose(waiting: readonly Waiting[], { now, limit }: { now: number; limit: number }): TenantId[] {
    this.#waiting = waiting;
    const turn = new Map([...this.#served].map((tenantId, index) => [tenantId, index]));
    const turnOf = ({ tenantId }: Waiting) => turn.get(tenantId) ?? -1;
    return waiting
      .filter(({ tenantId, dueAt }) => dueAt <= now && !this.#running.has(tenantId))
      .sort((one, other) => turnOf(one) - turnOf(other) || one.dueAt - other.dueAt)
      .slice(0, limit)
      .map(({ tenantId }) => tenantId);
  }

  take(tenantId: TenantId): void {
    this.#running.add(tenantId);
    this.#served.delete(tenantId);
    this.#served.add(tenantId);
    const [first] = this.#served;
    if (this.#served.size > MAX_REMEMBERED && first !== undefined) this.#served.delete(first);
  }

  free(tenantId: TenantId): void {
    this.#running.delete(tenantId);
  }

  /**
   * Returns the time at which the next job can run, in Unix milliseconds. It is called after `choose` has found none.
   */
  nextDueAt(): number | undefined {
    const next = this.#waiting
      .filter(({ tenantId }) => !this.#running.has(tenantId))
      .map(({ dueAt }) => dueAt);
    return next.length === 0 ? undefined : Math.min(...next);
  }
}
