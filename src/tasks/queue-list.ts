/**
 * Keeps `Order` informed about the queues of a kind. A pass through the index finds those with tasks that wait, a slice at a
 * time; afterwards only queues that have changed are read. Passes are repeated, since a wake-up may be lost.
 */
import type { PartApp } from '../thread-app.ts';
import type { TaskKind } from './kind.ts';
import type { Order } from './order.ts';
import { findWaitingQueue, listWaitingQueues, type WaitingQueue } from './store.ts';

/** Maximum number of queues that are read in one go, which takes a few milliseconds. */
const MAX_READ = 100;
/** Maximum number of queues of a tenant that are kept in memory. The others are found by later passes. */
const MAX_QUEUES_OF_TENANT = 5_000;
/** Time from the end of a pass to the next one, in milliseconds. */
const PASS_PERIOD_MS = 30_000;
/** Minimum time between two passes, however many wake-ups name no queue, and as a multiple of what a pass takes. */
const MIN_PASS_PERIOD_MS = 100;
const MIN_PASS_PERIODS = 3;

export class QueueList {
  readonly #app: Pick<PartApp, 'clock' | 'db'>;
  readonly #kind: TaskKind;
  readonly #order: Order;
  readonly #changed = new Set<string>();
  /** The queue after which the pass goes on; undefined between passes. */
  #after: string | undefined = '';
  /** Begin and end of the last pass, on the monotonic clock. */
  #passBegunAt = 0;
  #passEndedAt = 0;
  /** True when there may be queues that the last pass has not found, or has left out. */
  #isIncomplete = false;

  constructor(app: Pick<PartApp, 'clock' | 'db'>, kind: TaskKind, order: Order) {
    this.#app = app;
    this.#kind = kind;
    this.#order = order;
    this.#passBegunAt = app.clock.elapsed();
  }

  /** Takes note that a queue may have changed. */
  noteChange(queue: string): void {
    this.#changed.add(queue);
  }

  /** Takes note that any queue may have changed. A pass under way may be past the one that has. */
  listAgain(): void {
    this.#isIncomplete = true;
  }

  /** Reads some of what may have changed. Returns false when more is left to read. */
  async refresh(): Promise<boolean> {
    let left = MAX_READ;
    for (const queue of this.#changed) {
      if (left-- === 0) return false;
      await this.#readChange(queue);
    }
    if (this.#after === undefined && this.#app.clock.elapsed() >= this.#nextPassAt) this.#beginPass();
    if (this.#after !== undefined) await this.#goOn(this.#after);
    return this.#after === undefined && this.#changed.size === 0;
  }

  /** Reads a queue that has changed. A change during the read is read next, and an error leaves the change to the next lease. */
  async #readChange(queue: string): Promise<void> {
    this.#changed.delete(queue);
    try {
      const key = { kind: this.#kind.name, queueKey: queue };
      await this.#set(queue, await findWaitingQueue(this.#app.db.read, key));
    } catch (error) {
      this.#changed.add(queue);
      throw error;
    }
  }

  /** Returns when a queue falls due or the next pass begins, in Unix milliseconds. */
  nextDueAt(): number {
    const { clock } = this.#app;
    const passAt = clock.now() + this.#nextPassAt - clock.elapsed();
    return Math.min(passAt, this.#order.nextDueAt ?? passAt);
  }

  /** Time of the next pass, on the monotonic clock. */
  get #nextPassAt(): number {
    const tookMs = this.#passEndedAt - this.#passBegunAt;
    const soonMs = Math.max(MIN_PASS_PERIOD_MS, MIN_PASS_PERIODS * tookMs);
    return this.#passEndedAt + (this.#isIncomplete ? Math.min(soonMs, PASS_PERIOD_MS) : PASS_PERIOD_MS);
  }

  #beginPass(): void {
    this.#after = '';
    this.#passBegunAt = this.#app.clock.elapsed();
    this.#isIncomplete = false;
  }

  async #goOn(after: string): Promise<void> {
    const found = await listWaitingQueues(this.#app.db.read, {
      kind: this.#kind.name,
      after,
      limit: MAX_READ,
    });
    for (const queue of found) await this.#set(queue.queueKey, queue);
    this.#after = found.length < MAX_READ ? undefined : found.at(-1)?.queueKey;
    this.#passEndedAt = this.#app.clock.elapsed();
  }

  /** Passes on what a queue is now. One that falls due after the next pass is left to it. */
  async #set(queue: string, waiting: WaitingQueue | undefined): Promise<void> {
    const { clock } = this.#app;
    const now = clock.now();
    if (!waiting || waiting.dueAt > now + PASS_PERIOD_MS) {
      this.#order.set({ queueKey: queue, tenantId: null, dueAt: undefined, limits: [] }, now);
      return;
    }
    const { tenantId } = waiting;
    if (!this.#order.has(queue) && this.#order.countOf(tenantId) >= MAX_QUEUES_OF_TENANT) {
      this.#isIncomplete = true;
      return;
    }
    const { pausedUntil = 0, limits = [] } = (await this.#kind.rules?.(queue)) ?? {};
    const { concurrencyPerQueue = this.#kind.concurrency } = this.#kind;
    const own = { key: `queue ${queue}`, max: concurrencyPerQueue };
    this.#order.set(
      { queueKey: queue, tenantId, dueAt: Math.max(waiting.dueAt, pausedUntil), limits: [own, ...limits] },
      now,
    );
  }
}
