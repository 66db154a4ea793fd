/**
 * Claims mail from the queues of a site, in the order of `QueueOrder`. It returns deliveries that are durably claimed;
 * the site hands them to its sessions.
 */

import type { Timer } from '../../system/clock.ts';
import { RoundRobin } from '../../system/round-robin.ts';
import { type ClaimRequest, claimDeliveries, type Delivery, leaseFrom } from '../claim.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Rate } from './rate.ts';

/** Number of transactional messages for each broadcast message. 80 % of a busy site's transactions. */
const TRANSACTIONAL_PER_BROADCAST = 4;

type IsHeldBack = (tenantId: string) => boolean;

/** Maximum number of messages claimed in one transaction. */
const MAX_MESSAGES_PER_CLAIM = 64;
/** Maximum number of delivery queues whose recipients of a message share one transaction. */
const MAX_QUEUES_PER_CLAIM = 200;
/** Number of queues that are read before other work on this thread may run. Each read is a query on this thread. */
const QUEUES_PER_YIELD = 100;
/** Pause after a claim that failed, for example because the disk is full. */
const PAUSE_AFTER_ERROR_MS = 1_000;

/** The part of the app that a site needs. */
export type SiteApp = Pick<DeliveryApp, 'clock' | 'db' | 'runId' | 'log' | 'wakeups' | 'prepare'>;

export type ClaimerEvents = {
  /** Is called when no more mail of the queue is due. */
  onDone(queue: DeliveryQueue): void;
  /** Is called when the route of the queue has expired. */
  onStale(queue: DeliveryQueue): void;
  /** Is called when a pause, after a failed claim or for the rate of the site, has ended. */
  onResume(): void;
  /** Returns true when nothing more is claimed for the tenant at present. */
  isHeldBack(tenantId: string): boolean;
};

/** Messages of the next claim, each with the queues in which it was found. */
type Picked = Map<string, DeliveryQueue[]>;

export class Claimer {
  readonly #app: SiteApp;
  readonly #site: string;
  readonly #rate: Rate | undefined;
  readonly #events: ClaimerEvents;
  readonly #queues = new QueueOrder();
  #pause: Timer | undefined;
  #isClosed = false;

  /** `rate` is undefined when nothing but its sessions limits the site. */
  constructor(app: SiteApp, options: { site: string; rate: Rate | undefined; events: ClaimerEvents }) {
    this.#app = app;
    this.#site = options.site;
    this.#rate = options.rate;
    this.#events = options.events;
  }

  /** True when queues wait to be claimed from, of whatever tenant. */
  get hasWork(): boolean {
    return this.#queues.size > 0 && !this.#pause && !this.#isClosed;
  }

  /** True when there are no queues. */
  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** True when there are queues of a tenant that is not held back. */
  get mayClaim(): boolean {
    if (!this.hasWork) return false;
    for (const tenantId of this.#queues.tenants()) if (!this.#events.isHeldBack(tenantId)) return true;
    return false;
  }

  add(queue: DeliveryQueue): void {
    this.#queues.add(queue);
  }

  /** Returns true when the tenant has a queue. */
  has(tenantId: string): boolean {
    return this.#queues.has(tenantId);
  }

  /** Yields the tenants with queues. A tenant may occur twice. */
  tenants(): Iterable<string> {
    return this.#queues.tenants();
  }

  /** Drops all queues. From now on nothing is claimed. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues.all()) this.#queues.remove(queue);
    this.#pause?.cancel();
  }

  /**
   * Claims up to `limit` messages. Returns an empty list when all of them were suppressed meanwhile, and undefined when
   * nothing was found or the claim failed. Never rejects. The caller waits for one claim before the next.
   */
  async claim(limit: number): Promise<readonly Delivery[] | undefined> {
    const { clock } = this.#app;
    const waitMs = this.#rate?.waitMs(clock.elapsed()) ?? 0;
    if (waitMs > 0) {
      this.#pauseFor(waitMs);
      return undefined;
    }
    const picked: Picked = new Map();
    try {
      const allowed = this.#rate?.perClaim ?? MAX_MESSAGES_PER_CLAIM;
      await this.#pick(picked, Math.min(limit, allowed, MAX_MESSAGES_PER_CLAIM));
      if (picked.size === 0 || this.#isClosed) return undefined;
      const deliveries = await this.#app.db.commit(claimDeliveries, this.#request(picked));
      for (const { recipients } of deliveries) this.#rate?.spend(recipients.length, clock.elapsed());
      this.#app.wakeups.notify('events');
      return deliveries;
    } catch (error) {
      this.#app.log.error({ err: error, site: this.#site }, 'mail could not be claimed');
      this.#pauseFor(PAUSE_AFTER_ERROR_MS);
      return undefined;
    } finally {
      for (const [messageId, queues] of picked) for (const queue of queues) queue.claimed(messageId);
    }
  }

  #request(picked: Picked): ClaimRequest {
    const found = [...picked.values()].flat();
    const queues = new Set(found.map((queue) => queue.key));
    for (const tenantId of new Set(found.map((queue) => queue.name.tenantId))) {
      for (const queue of this.#queues.queuesOf(tenantId)) {
        if (queues.size >= MAX_QUEUES_PER_CLAIM) break;
        queues.add(queue.key);
      }
    }
    return {
      now: this.#app.clock.now(),
      runId: this.#app.runId,
      leasedUntil: leaseFrom(this.#app.clock.elapsed()),
      messageIds: [...picked.keys()],
      site: this.#site,
      queues: [...queues],
    };
  }

  async #pick(picked: Picked, limit: number): Promise<void> {
    if (this.#pause) return;
    const { isHeldBack } = this.#events;
    const exhausted = new Set<DeliveryQueue>();
    for (let reads = 1; picked.size < limit; reads++) {
      const queue = this.#queues.next(isHeldBack);
      if (!queue) return;
      if (exhausted.has(queue) && exhausted.size >= this.#queues.count(isHeldBack)) return;
      if (this.#isStale(queue)) continue;
      const messageId = await queue.next();
      if (messageId !== undefined) picked.set(messageId, [...(picked.get(messageId) ?? []), queue]);
      else exhausted.add(queue);
      if (queue.isDone) {
        this.#queues.remove(queue);
        this.#events.onDone(queue);
        // Only queues that are still part of the site are compared with their number.
        exhausted.delete(queue);
      }
      if (reads % QUEUES_PER_YIELD === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /**
   * Hands a queue back to the dispatcher when its route has expired, and returns true. A queue whose claim is being
   * written stays until that is done, since its next site would find no work in it.
   */
  #isStale(queue: DeliveryQueue): boolean {
    if (queue.isBeingClaimed || queue.routedUntil > this.#app.clock.elapsed()) return false;
    this.#queues.remove(queue);
    this.#events.onStale(queue);
    return true;
  }

  #pauseFor(timeMs: number): void {
    if (this.#isClosed) return;
    this.#pause ??= this.#app.clock.after(timeMs, () => {
      this.#pause = undefined;
      this.#events.onResume();
    });
  }
}

/**
 * The order is four transactional messages for each broadcast message; within each kind the tenants round-robin, and
 * the queues of each tenant round-robin. A tenant with mail for a thousand domains of one provider is served as often
 * as a tenant with mail for one of them.
 */
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
