/**
 * The order in which the queues of a site are served: four transactional messages for each broadcast message; within
 * each kind the tenants round-robin, and the queues of each tenant round-robin. A tenant with mail for a thousand
 * domains of one provider is served as often as a tenant with mail for one of them.
 */
import { RoundRobin } from '../../system/round-robin.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

/** Number of transactional messages for each broadcast message. 80 % of a busy site's transactions. */
const TRANSACTIONAL_PER_BROADCAST = 4;

type IsHeldBack = (tenantId: string) => boolean;

export class QueueOrder {
  readonly #queues = {
    transactional: new RoundRobin<DeliveryQueue>(),
    broadcast: new RoundRobin<DeliveryQueue>(),
  };
  #position = 0;

  /** Number of queues of all tenants. */
  get size(): number {
    return this.#queues.transactional.size + this.#queues.broadcast.size;
  }

  add(queue: DeliveryQueue): void {
    this.#queues[queue.name.kind].add(queue.name.tenantId, queue);
  }

  remove(queue: DeliveryQueue): void {
    this.#queues[queue.name.kind].remove(queue.name.tenantId, queue);
  }

  /** Returns true when the tenant has a queue. */
  has(tenantId: string): boolean {
    return this.#queues.transactional.has(tenantId) || this.#queues.broadcast.has(tenantId);
  }

  /** Yields the tenants with queues; a tenant with queues of both kinds occurs twice. */
  *tenants(): Iterable<string> {
    yield* this.#queues.transactional.owners();
    yield* this.#queues.broadcast.owners();
  }

  /** Yields all queues. */
  *all(): Iterable<DeliveryQueue> {
    for (const tenantId of this.tenants()) yield* this.queuesOf(tenantId);
  }

  /** Returns the number of queues of the tenants that are not held back. */
  count(isHeldBack: IsHeldBack): number {
    let count = 0;
    for (const queues of [this.#queues.transactional, this.#queues.broadcast]) {
      for (const tenantId of queues.owners()) if (!isHeldBack(tenantId)) count += queues.count(tenantId);
    }
    return count;
  }

  /** Yields the queues of the tenant. */
  *queuesOf(tenantId: string): Iterable<DeliveryQueue> {
    yield* this.#queues.transactional.itemsOf(tenantId);
    yield* this.#queues.broadcast.itemsOf(tenantId);
  }

  /** Returns the queue to serve next and moves it to the end. Tenants that are held back are skipped. */
  next(isHeldBack: IsHeldBack): DeliveryQueue | undefined {
    this.#position = (this.#position + 1) % (TRANSACTIONAL_PER_BROADCAST + 1);
    const { transactional, broadcast } = this.#queues;
    const [first, second] = this.#position === 0 ? [broadcast, transactional] : [transactional, broadcast];
    const mayServe = (tenantId: string) => !isHeldBack(tenantId);
    const queue = first.take(mayServe) ?? second.take(mayServe);
    if (queue) this.add(queue);
    return queue;
  }
}
