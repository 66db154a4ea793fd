/**
 * Chooses the tenants whose job runs next. A tenant has one job at a time, and tenants are served round-robin: a tenant
 * with many long files delays another tenant only by the jobs that run.
 */
import type { TenantRow } from '../db/tenant-tables.ts';
import { RoundRobin } from '../system/round-robin.ts';
import type { WaitingTenant } from './store.ts';

type TenantId = TenantRow['id'];

export class TenantOrder {
  readonly #running = new Set<TenantId>();
  /** Tenants with a due job, each its own owner. A tenant queues again once its job has run. */
  readonly #due = new RoundRobin<TenantId>();
  #waiting: readonly WaitingTenant[] = [];

  /** Returns up to `limit` tenants whose job runs next. `waiting` has every tenant with a job that has not ended. */
  choose(waiting: readonly WaitingTenant[], { now, limit }: { now: number; limit: number }): TenantId[] {
    this.#waiting = waiting;
    const idle = waiting.filter(({ tenantId }) => !this.#running.has(tenantId));
    for (const { tenantId, dueAt } of idle.toSorted((one, other) => one.dueAt - other.dueAt)) {
      if (dueAt <= now) this.#due.add(tenantId, tenantId);
      else this.#due.remove(tenantId, tenantId);
    }
    const chosen: TenantId[] = [];
    while (chosen.length < limit) {
      const tenantId = this.#due.take(() => true);
      if (tenantId === undefined) break;
      chosen.push(tenantId);
    }
    return chosen;
  }

  /** Records that a job of the tenant runs. */
  begin(tenantId: TenantId): void {
    this.#running.add(tenantId);
  }

  /** Records that the job of the tenant has run. */
  end(tenantId: TenantId): void {
    this.#running.delete(tenantId);
  }

  /** Returns the time at which the next job of a tenant without a running one falls due, in Unix milliseconds. */
  nextDueAt(): number | undefined {
    const next = this.#waiting
      .filter(({ tenantId }) => !this.#running.has(tenantId))
      .map(({ dueAt }) => dueAt);
    return next.length === 0 ? undefined : Math.min(...next);
  }
}
