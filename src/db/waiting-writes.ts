/**
 * The writes that wait for a database, by priority, and the choice of those that share the next transaction. Within a
 * priority they keep their order. Urgent writes run before all others and have a group of their own, every second one at
 * most, so that a reader who unsubscribes does not wait for a thousand emails. Bulk writes, such as copies of a broadcast,
 * give way to all others, one in a group at most while others wait; a group that ran none is followed by one that begins
 * with one, so they are never shut out.
 */
import type { WritePriority } from './operation.ts';
import type { Request } from './thread-messages.ts';

/**
 * Maximum number of writes in one transaction: enough to amortise the flush, few enough that the first caller does not
 * wait long.
 */
export const GROUP_SIZE = 256;
/** Maximum size of the inputs in one transaction, a thousand pages of WAL. A larger write is a group of its own. */
export const GROUP_BYTES = 4 * 1024 * 1024;

export class WaitingWrites<Waiting extends Pick<Request, 'operation' | 'sizeBytes'>> {
  readonly #priorityOf: (operation: string) => WritePriority;
  readonly #waiting: Record<WritePriority, Waiting[]> = { urgent: [], ordinary: [], bulk: [] };
  /** True when the last group ran no bulk write although one waited. */
  #bulkIsOverdue = false;
  /** True when the last group was of urgent writes alone although others waited. */
  #othersAreOverdue = false;

  constructor(priorityOf: (operation: string) => WritePriority) {
    this.#priorityOf = priorityOf;
  }

  get size(): number {
    const { urgent, ordinary, bulk } = this.#waiting;
    return urgent.length + ordinary.length + bulk.length;
  }

  add(write: Waiting): void {
    this.#waiting[this.#priorityOf(write.operation)].push(write);
  }

  /** Returns the writes of the next group, in the order in which they run; at least one unless none waits. */
  nextGroup(): Waiting[] {
    const { urgent, ordinary, bulk } = this.#waiting;
    if (urgent.length > 0 && !this.#othersAreOverdue) return fitting(urgent);
    const someBulk = urgent.length + ordinary.length > 0 ? bulk.slice(0, 1) : bulk;
    return fitting(
      this.#bulkIsOverdue ? [...urgent, ...someBulk, ...ordinary] : [...urgent, ...ordinary, ...someBulk],
    );
  }

  /** Forgets the writes of a group that have run. Those that its time did not allow stay first in their line. */
  remove(run: readonly Waiting[]): void {
    const gone = new Set(run);
    const { urgent, ordinary, bulk } = this.#waiting;
    const ranBulk = bulk.some((write) => gone.has(write));
    const ranUrgentAlone = run.length > 0 && run.every((write) => urgent.includes(write));
    this.#othersAreOverdue = ranUrgentAlone && ordinary.length + bulk.length > 0;
    if (!ranUrgentAlone) this.#bulkIsOverdue = bulk.length > 0 && !ranBulk;
    this.#waiting.urgent = urgent.filter((write) => !gone.has(write));
    this.#waiting.ordinary = ordinary.filter((write) => !gone.has(write));
    this.#waiting.bulk = bulk.filter((write) => !gone.has(write));
  }
}

/** Returns the first writes that form a group, in their order. */
function fitting<Waiting extends Pick<Request, 'sizeBytes'>>(writes: readonly Waiting[]): Waiting[] {
  let size = 0;
  let bytes = 0;
  for (const { sizeBytes } of writes) {
    bytes += sizeBytes;
    if (size === GROUP_SIZE || (size > 0 && bytes > GROUP_BYTES)) break;
    size++;
  }
  return writes.slice(0, size);
}
