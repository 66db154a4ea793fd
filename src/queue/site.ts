/**
 * A site is a destination of mail, with the queues that lead there: the hosts of one or of a thousand domains, the
 * simulator, or a dead end. It claims deliveries ahead of its sessions, hands them out, and adapts its pace.
 */
import type { App } from '../app.ts';
import type { Timer } from '../system/clock.ts';
import { type Claim, claimDeliveries, type Delivery, leaseFrom } from './claim.ts';
import { Addresses } from './connect.ts';
import type { Claimed } from './deliver.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { Pace } from './pace.ts';
import type { PreparedMessage } from './prepare.ts';
import { RoundRobin } from './round-robin.ts';
import type { Route } from './route.ts';
import type { Slot } from './slots.ts';

/** Number of deliveries in memory ahead of each session, so that none waits for a commit. */
const AHEAD_PER_SESSION = 2;
const MIN_AHEAD = 4;
/** Maximum number of messages claimed in one transaction. */
const MAX_MESSAGES_PER_CLAIM = 64;
/** Maximum number of delivery queues whose recipients of a message share one transaction. */
const MAX_QUEUES_PER_CLAIM = 200;
/** Number of queues that are read before other work on this thread may run. Each read is a query on this thread. */
const QUEUES_PER_YIELD = 100;
/** Pause after a claim that failed, for example because the disk is full. */
const PAUSE_AFTER_ERROR_MS = 1_000;

export type SiteEvents = {
  /** Is called when no more mail of the queue is due. */
  onDone(queue: DeliveryQueue): void;
  /** Is called when the route of the queue has expired. */
  onStale(queue: DeliveryQueue): void;
  /** Is called when the site may want another session, or no longer wants one. */
  onChange(site: Site): void;
  /** Returns true when the tenant has so many connections that nothing more is claimed for it here (slots.ts). */
  isHeldBack(tenantId: string, site: Site): boolean;
};

/** Messages of the next claim, each with the queues in which it was found. */
type Picked = Map<string, DeliveryQueue[]>;

type SiteApp = Pick<App, 'clock' | 'db' | 'runId' | 'log' | 'wakeups'>;
type Prepare = (delivery: Delivery) => Promise<PreparedMessage>;

export class Site {
  readonly key: string;
  readonly addresses = new Addresses();
  readonly pace: Pace;
  route: Route;
  /** Number of open sessions with the site. */
  sessions = 0;
  /** Deliveries that are being sent to the site. */
  readonly sending = new Set<Claimed>();
  isAbandoned = false;
  readonly #app: SiteApp;
  readonly #prepare: Prepare;
  readonly #events: SiteEvents;
  readonly #queues = new RoundRobin();
  /** Idle sessions, each with the function that ends its wait. */
  readonly #waiters = new Map<(more: boolean) => void, Slot>();
  readonly #isHeldBack = (tenantId: string): boolean => this.#events.isHeldBack(tenantId, this);
  #claimed: Claimed[] = [];
  #claiming: Promise<boolean> | undefined;
  #pause: Timer | undefined;
  #isClosed = false;

  constructor(
    app: SiteApp,
    options: { route: Route; maxConnections: number; prepare: Prepare; events: SiteEvents },
  ) {
    this.#app = app;
    this.key = options.route.site;
    this.route = options.route;
    this.pace = new Pace(options.maxConnections);
    this.#prepare = options.prepare;
    this.#events = options.events;
  }

  /** True when this site has mail waiting and may open another session. */
  get wantsSession(): boolean {
    return this.hasWork && this.#waiters.size === 0 && this.sessions < this.pace.connections;
  }

  get hasWork(): boolean {
    return this.#claimed.length > 0 || (this.#queues.size > 0 && !this.#pause && !this.#isClosed);
  }

  /**
   * True when the site has delivered recently. A site that needs no connection always counts as proven, since it cannot
   * block anybody.
   */
  get isProven(): boolean {
    return this.route.kind !== 'hosts' || this.pace.isProven(this.#app.clock.elapsed());
  }

  /** Yields the tenants whose mail waits here. A tenant may occur more than once. */
  *tenants(): Iterable<string> {
    for (const { message } of this.#claimed) yield message.tenantId;
    yield* this.#queues.tenants();
  }

  hasMailOf(tenantId: string): boolean {
    return this.#queues.has(tenantId) || this.#claimed.some(({ message }) => message.tenantId === tenantId);
  }

  get isEmpty(): boolean {
    const hasMail = this.#claimed.length > 0 || this.#claiming !== undefined || this.#queues.size > 0;
    return !hasMail && this.sessions === 0;
  }

  add(queue: DeliveryQueue): void {
    this.#queues.add(queue);
    this.wake();
  }

  /** Hands a delivery back, to be taken first by another session. */
  putBack(claimed: Claimed): void {
    this.#claimed.unshift(claimed);
    this.wake();
  }

  /** Wakes one idle session, or requests another one. */
  wake(): void {
    for (const resume of this.#waiters.keys()) {
      resume(true);
      return;
    }
    this.#events.onChange(this);
  }

  /** Stops claiming, and resolves when no claim is being written. Mail that is claimed already is still handed out. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const queue of this.#queues.all()) this.#queues.remove(queue);
    this.#pause?.cancel();
    for (const resume of [...this.#waiters.keys()]) resume(false);
    await this.#claiming;
  }

  /** Discards the claimed mail: from now on nothing more is sent. */
  abandon(): void {
    this.isAbandoned = true;
    this.#claimed = [];
  }

  /** Ends an idle session whose mail is all settled. Returns true when there was one. */
  dismissIdle(): boolean {
    for (const [resume, slot] of this.#waiters) {
      if (slot.charge) continue;
      resume(false);
      return true;
    }
    return false;
  }

  /**
   * Returns the next delivery for the session in this slot; undefined when there is none and none comes within
   * `idleMs`.
   */
  async take(idleMs: number, slot: Slot): Promise<Claimed | undefined> {
    for (;;) {
      const next = this.#takeClaimed(slot);
      if (next) {
        if (this.#claimed.length < this.sessions) void this.#claimMore();
        return next;
      }
      if (await this.#claimMore()) continue;
      if (!(await this.#wait(idleMs, slot))) return undefined;
    }
  }

  /**
   * Returns the next delivery for a session that is about to end: only one that is claimed, and none if other sessions
   * of the site can deliver it.
   */
  async takeLast(slot: Slot): Promise<Claimed | undefined> {
    if (this.sessions > 1) return undefined;
    await this.#claiming;
    return this.#takeClaimed(slot);
  }

  #takeClaimed(slot: Slot): Claimed | undefined {
    const next = this.#claimed.shift();
    if (!next) return undefined;
    slot.carry(next.message.tenantId, this.isProven);
    this.#lookAhead();
    return next;
  }

  /**
   * Signs the following delivery while this one is being sent, and wakes or requests a session that may begin with it.
   */
  #lookAhead(): void {
    const [following] = this.#claimed;
    if (!following) return;
    // The session that sends this delivery reports the failure.
    following.prepare().catch(() => {});
    this.wake();
  }

  #wait(idleMs: number, slot: Slot): Promise<boolean> {
    // Mail that arrived after the last claim has not woken any session.
    if (this.#mayClaim || this.#claimed.length > 0) return Promise.resolve(true);
    if (idleMs === 0 || this.#isClosed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const resume = (more: boolean) => {
        timer.cancel();
        this.#waiters.delete(resume);
        resolve(more);
      };
      const timer = this.#app.clock.after(idleMs, () => resume(false));
      this.#waiters.set(resume, slot);
      slot.idle();
    });
  }

  /** True when there are queues of a tenant that is not held back. */
  get #mayClaim(): boolean {
    if (this.#pause || this.#isClosed) return false;
    for (const tenantId of this.#queues.tenants()) if (!this.#isHeldBack(tenantId)) return true;
    return false;
  }

  /** Runs one claim at a time. Resolves to true when it found mail; never rejects. */
  #claimMore(): Promise<boolean> {
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
      // The session that requested the claim may have ended in the meantime.
      if (this.sessions === 0) this.#events.onChange(this);
    });
    return this.#claiming;
  }

  async #claim(): Promise<boolean> {
    const picked: Picked = new Map();
    try {
      await this.#pick(picked);
      if (picked.size === 0 || this.#isClosed) return false;
      const claim = this.#claimOf(picked);
      const deliveries = await this.#app.db.commit(claimDeliveries, claim);
      const claimedAt = this.#app.clock.elapsed();
      for (const delivery of deliveries) this.#claimed.push(this.#asClaimed(delivery, claimedAt));
      this.#app.wakeups.notify('events');
      return deliveries.length > 0 || this.#queues.size > 0;
    } catch (error) {
      this.#app.log.error({ err: error, site: this.key }, 'mail could not be claimed');
      this.#pauseAfterError();
      return false;
    } finally {
      for (const [messageId, queues] of picked) for (const queue of queues) queue.claimed(messageId);
    }
  }

  #claimOf(picked: Picked): Claim {
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
      queues: [...queues],
    };
  }

  async #pick(picked: Picked): Promise<void> {
    if (this.#pause) return;
    const ahead = Math.max(this.sessions * AHEAD_PER_SESSION, MIN_AHEAD);
    const wanted = Math.min(ahead - this.#claimed.length, MAX_MESSAGES_PER_CLAIM);
    const exhausted = new Set<DeliveryQueue>();
    for (let reads = 1; picked.size < wanted; reads++) {
      const queue = this.#queues.next(this.#isHeldBack);
      if (!queue) return;
      if (exhausted.has(queue) && exhausted.size >= this.#queues.count(this.#isHeldBack)) return;
      if (this.#isStale(queue)) continue;
      const messageId = await queue.next();
      if (messageId !== undefined) picked.set(messageId, [...(picked.get(messageId) ?? []), queue]);
      else exhausted.add(queue);
      if (queue.isDone) {
        this.#drop(queue);
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

  #drop(queue: DeliveryQueue): void {
    this.#queues.remove(queue);
    this.#events.onDone(queue);
  }

  #asClaimed(delivery: Delivery, claimedAt: number): Claimed {
    let prepared: Promise<PreparedMessage> | undefined;
    return {
      ...delivery,
      site: this.key,
      claimedAt,
      tries: 0,
      brokenOff: undefined,
      prepare: () => {
        prepared ??= this.#prepare(delivery);
        return prepared;
      },
    };
  }

  #pauseAfterError(): void {
    this.#pause ??= this.#app.clock.after(PAUSE_AFTER_ERROR_MS, () => {
      this.#pause = undefined;
      this.wake();
    });
  }
}
