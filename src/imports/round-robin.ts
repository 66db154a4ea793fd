/**
 * Whose job is next. A tenant has one job at a time, and who was served longest ago comes first: however many long files
 * one has queued, another waits for no more than those under way.
 */
import type { TenantRow } from '../db/tables.ts';

type TenantId = TenantRow['id'];
type Waiting = { tenantId: TenantId; dueAt: number };

/** Who was served before so many others is as good as new. */
const MAX_REMEMBERED = 1_000;

export class RoundRobin {
  readonly #running = new Set<TenantId>();
  /** In the order in which they were last served. */
  readonly #served = new Set<TenantId>();
  #waiting: readonly Waiting[] = [];

  /** `waiting`: every tenant with a job that has not ended. Answers up to `limit` of those whose turn it is. */
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

  /** When the first falls due that may run then; asked right after `choose` has found none. */
  nextDueAt(): number | undefined {
    const next = this.#waiting
      .filter(({ tenantId }) => !this.#running.has(tenantId))
      .map(({ dueAt }) => dueAt);
    return next.length === 0 ? undefined : Math.min(...next);
  }
}
