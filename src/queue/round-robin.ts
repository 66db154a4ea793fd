/**
 * The order in which the queues of a site are served: four transactional messages for each broadcast message; within
 * each kind the tenants round-robin, and the queues of each tenant round-robin. A tenant with mail for a thousand
 * domains of one provider is served as often as a tenant with mail for one of them.
 */
import type { DeliveryQueue } from './delivery-queue.ts';
import { TenantLines } from './tenant-lines.ts';

/** Number of transactional messages for each broadcast message (engine.md 4, selection: 8 to 2). */
const TRANSACTIONAL_PER_BROADCAST = 4;

export class RoundRobin {
  readonly #queues = {
    transactional: new TenantLines<DeliveryQueue>(),
    broadcast: new TenantLines<DeliveryQueue>(),
  };
  #turn = 0;

  get size(): number {
    return this.#queues.transactional.size + this.#queues.broadcast.size;
  }

  add(queue: DeliveryQueue): void {
    this.#queues[queue.name.kind].add(queue.name.tenantId, queue);
  }

  remove(queue: DeliveryQueue): void {
    this.#queues[queue.name.kind].remove(queue.name.tenantId, queue);
  }

  has(tenantId: string): boolean {
    return this.#queues.transactional.has(tenantId) || this.#queues.broadcast.has(tenantId);
  }

  /** Yields the tenants with queues; a tenant with queues of both kinds occurs twice. */
  *tenants(): Iterable<string> {
    yield* this.#queues.transactional.tenants();
    yield* this.#queues.broadcast.tenants();
  }

  *all(): Iterable<DeliveryQueue> {
    for (const tenantId of this.tenants()) yield* this.queuesOf(tenantId);
  }

  /** Returns the number of queues of the tenants that are not held back. */
  count(isHeldBack: (tenantId: string) => boolean): number {
    let count = 0;
    for (const queues of [this.#queues.transactional, this.#queues.broadcast]) {
      for (const tenantId of queues.tenants()) if (!isHeldBack(tenantId)) count += queues.count(tenantId);
    }
    return count;
  }

  *queuesOf(tenantId: string): Iterable<DeliveryQueue> {
    yield* this.#queues.transactional.line(tenantId);
    yield* this.#queues.broadcast.line(tenantId);
  }

  /** Returns the queue to serve next and moves it to the end. Tenants that are held back are skipped. */
  next(isHeldBack: (tenantId: string) => boolean): DeliveryQueue | undefined {
    this.#turn = (this.#turn + 1) % (TRANSACTIONAL_PER_BROADCAST + 1);
    const { transactional, broadcast } = this.#queues;
    const [first, second] = this.#turn === 0 ? [broadcast, transactional] : [transactional, broadcast];
    return takeNext(first, isHeldBack) ?? takeNext(second, isHeldBack);
  }
}

function takeNext(
  queues: TenantLines<DeliveryQueue>,
  isHeldBack: (tenantId: string) => boolean,
): DeliveryQueue | undefined {
  for (const tenantId of queues.tenants()) {
    if (isHeldBack(tenantId)) continue;
    for (const queue of queues.line(tenantId)) {
      queues.remove(tenantId, queue);
      queues.add(tenantId, queue);
      queues.moveLast(tenantId);
      return queue;
    }
  }
  return undefined;
}
