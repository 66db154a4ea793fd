/**
 * The order in which the queues of a site are served. Bands share a site in proportion, so that a broadcast delays
 * transactional mail little and is not delayed for ever. Within a band the tenants take turns, and the queues of each tenant:
 * a tenant with mail for a thousand domains of one provider is served as often as a tenant with mail for one of them. The turn of a
 * tenant has as many messages as its weight.
 */
import { RoundRobin } from '../../system/round-robin.ts';
import type { Band, QueueName, Weights } from './events.ts';

/** The band that each message of a round belongs to: of eleven, one report, eight transactional, two of broadcasts. */
const ROUND: readonly Band[] = [
  'report',
  'transactional',
  'transactional',
  'transactional',
  'transactional',
  'broadcast',
  'transactional',
  'transactional',
  'transactional',
  'transactional',
  'broadcast',
];
/** The bands whose mail does not wait for copies of broadcasts. */
const URGENT: readonly Band[] = ['report', 'transactional'];
/** The order in which other bands take the place of one that has nothing. */
const BANDS: readonly Band[] = [...URGENT, 'broadcast'];
/** Number of other messages that may leave in a row while copies of broadcasts wait, as in a round. */
export const URGENT_IN_A_ROW = 4;

/** Says which tenants are served, and how often. */
export type Serving = {
  /** Tenants for which it is false are passed over. */
  mayServe: (tenantId: string) => boolean;
  /** The weights of tenants that have another one than 1. */
  weights: Weights;
};

export class QueueOrder<Queue extends { readonly name: QueueName }> {
  readonly #bands: Record<Band, RoundRobin<Queue>> = {
    report: new RoundRobin(),
    transactional: new RoundRobin(),
    broadcast: new RoundRobin(),
  };
  #position = 0;

  /** Number of queues of all tenants. */
  get size(): number {
    return BANDS.reduce((sum, band) => sum + this.#bands[band].size, 0);
  }

  add(queue: Queue): void {
    this.#bands[queue.name.band].add(queue.name.tenantId, queue);
  }

  remove(queue: Queue): void {
    this.#bands[queue.name.band].remove(queue.name.tenantId, queue);
  }

  /** Returns true when the tenant has a queue. */
  has(tenantId: string): boolean {
    return BANDS.some((band) => this.#bands[band].has(tenantId));
  }

  /** Yields the tenants with queues; a tenant with queues of several bands occurs several times. */
  *tenants(): Iterable<string> {
    for (const band of BANDS) yield* this.#bands[band].owners();
  }

  /** Yields the queues of the tenant. */
  *queuesOf(tenantId: string): Iterable<Queue> {
    for (const band of BANDS) yield* this.#bands[band].itemsOf(tenantId);
  }

  /** Yields all queues. */
  *all(): Iterable<Queue> {
    for (const band of BANDS)
      for (const tenantId of this.#bands[band].owners()) yield* this.#bands[band].itemsOf(tenantId);
  }

  /** True when there is a queue whose mail does not wait for copies of broadcasts. */
  get hasUrgent(): boolean {
    return URGENT.some((band) => this.#bands[band].size > 0);
  }

  /** Returns the queue to serve next and moves it behind the others of its tenant. */
  next(serving: Serving): Queue | undefined {
    const own = ROUND[this.#position] ?? 'transactional';
    this.#position = (this.#position + 1) % ROUND.length;
    return this.#take([own, ...BANDS], serving);
  }

  /** Returns the queue to serve next among those whose mail does not wait for copies of broadcasts. */
  nextUrgent(serving: Serving): Queue | undefined {
    return this.#take(URGENT, serving);
  }

  #take(bands: readonly Band[], { mayServe, weights }: Serving): Queue | undefined {
    const weightOf = (tenantId: string) => weights.get(tenantId) ?? 1;
    for (const band of bands) {
      const queue = this.#bands[band].takeTurn(mayServe, weightOf);
      if (queue) return queue;
    }
    return undefined;
  }
}

/** Returns true for mail that does not wait for copies of broadcasts. */
export function isUrgent(band: Band): boolean {
  return URGENT.includes(band);
}
