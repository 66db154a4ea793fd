/**
 * Decides whose tasks of a kind run next. The number of concurrent tasks is bounded, so slots go to the tenants that hold
 * the fewest, and no tenant takes the last ones (system/shares.ts).
 */
import { Shares } from '../../system/shares.ts';
import type { WaitingQueue } from './read-store.ts';

/** A tenant alone gets three quarters of the slots. */
const HELD_PER_FREE = 3;

type Holder = Pick<WaitingQueue, 'tenantId'>;

/** Slots for the tasks of a queue. */
export type TaskClaim = Pick<WaitingQueue, 'queue' | 'tenantId'> & { limit: number };

export class TaskSlots {
  readonly #shares: Shares<WaitingQueue['tenantId']>;

  constructor(total: number) {
    this.#shares = new Shares(total, { perFree: HELD_PER_FREE });
  }

  /**
   * Takes up to `limit` slots for queues with due tasks, in rounds: each round gives one slot to each queue. The caller
   * frees every slot, also those for which it finds no task.
   */
  take(waiting: readonly WaitingQueue[], { now, limit }: { now: number; limit: number }): TaskClaim[] {
    const due = waiting
      .filter(({ dueAt }) => dueAt <= now)
      .toSorted((one, other) => this.#shares.heldBy(one.tenantId) - this.#shares.heldBy(other.tenantId));
    const claims = new Map<string, TaskClaim>();
    let left = limit;
    for (let isGiving = true; isGiving; ) {
      isGiving = false;
      for (const { queue, tenantId } of due) {
        if (left === 0 || !this.#shares.take(tenantId)) continue;
        claims.set(queue, { queue, tenantId, limit: (claims.get(queue)?.limit ?? 0) + 1 });
        left -= 1;
        isGiving = true;
      }
    }
    return [...claims.values()];
  }

  /** Frees this number of slots. */
  free({ tenantId }: Holder, count: number): void {
    for (let index = 0; index < count; index++) this.#shares.release(tenantId);
  }
}
