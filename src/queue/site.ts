/**
 * A site is a destination of mail, with the lanes that lead there: the hosts of one or of a thousand domains, the
 * simulator, or a dead end. It claims deliveries ahead of its sessions, hands them out, and adapts its pace.
 */
import type { App } from '../app.ts';
import type { Timer } from '../system/clock.ts';
import { type Claim, claimDeliveries, type Delivery, leaseFrom } from './claim.ts';
import { Addresses } from './connect.ts';
import type { Claimed } from './deliver.ts';
import type { Lane } from './lane.ts';
import { Pace } from './pace.ts';
import type { PreparedMessage } from './prepare.ts';
import type { Route } from './route.ts';
import type { Slot } from './slots.ts';
import { Turns } from './turns.ts';

/** Number of deliveries in memory ahead of each session, so that none waits for a commit. */
const AHEAD_PER_SESSION = 2;
const LEAST_AHEAD = 4;
/** In one claim. */
const MOST_CLAIMED = 64;
/** Lanes whose recipients of a message travel together; of a place with more the rest travels by itself. */
const LANES_TOGETHER = 200;
/** Lanes looked into without letting others have a turn: each is a query on this thread. */
const LANES_A_TURN = 100;
/** After a claim that failed, as on a full disk. */
const PAUSE_AFTER_ERROR_MS = 1_000;

export type SiteEvents = {
  /** Nothing of the lane is due any more. */
  onDone(lane: Lane): void;
  /** Its route has grown old. */
  onStale(lane: Lane): void;
  /** Is called when the site may want another session, or wants none any more. */
  onChange(site: Site): void;
  /** Returns true when the tenant has so many connections that nothing more is claimed for it here (slots.ts). */
  isHeldBack(tenantId: string, site: Site): boolean;
};

/** Messages of the next turns, each with the lanes it was found in. */
type Picked = Map<string, Lane[]>;

type SiteApp = Pick<App, 'clock' | 'db' | 'epoch' | 'log' | 'notices'>;
type Prepare = (delivery: Delivery) => Promise<PreparedMessage>;

export class Site {
  readonly key: string;
  readonly addresses = new Addresses();
  readonly pace: Pace;
  route: Route;
  /** Number of open sessions with the site. */
  sessions = 0;
  /** What is on the wire to it. */
  readonly sending = new Set<Claimed>();
  isAbandoned = false;
  readonly #app: SiteApp;
  readonly #prepare: Prepare;
  readonly #events: SiteEvents;
  readonly #lanes = new Turns();
  /** Idle sessions, each with the function that ends its wait. */
  readonly #waiters = new Map<(more: boolean) => void, Slot>();
  readonly #isHeldBack = (tenantId: string): boolean => this.#events.isHeldBack(tenantId, this);
  #claimed: Claimed[] = [];
  #claiming: Promise<boolean> | undefined;
  #pause: Timer | undefined;
  #isClosed = false;

  constructor(
    app: SiteApp,
    options: { route: Route; mostConnections: number; prepare: Prepare; events: SiteEvents },
  ) {
    this.#app = app;
    this.key = options.route.site;
    this.route = options.route;
    this.pace = new Pace(options.mostConnections);
    this.#prepare = options.prepare;
    this.#events = options.events;
  }

  /** True when this site has mail waiting and may open another session. */
  get wantsSession(): boolean {
    return this.hasWork && this.#waiters.size === 0 && this.sessions < this.pace.connections;
  }

  get hasWork(): boolean {
    return this.#claimed.length > 0 || (this.#lanes.size > 0 && !this.#pause && !this.#isClosed);
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
    yield* this.#lanes.tenants();
  }

  hasMailOf(tenantId: string): boolean {
    return this.#lanes.has(tenantId) || this.#claimed.some(({ message }) => message.tenantId === tenantId);
  }

  get isEmpty(): boolean {
    const hasMail = this.#claimed.length > 0 || this.#claiming !== undefined || this.#lanes.size > 0;
    return !hasMail && this.sessions === 0;
  }

  add(lane: Lane): void {
    this.#lanes.add(lane);
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

  /** Claims nothing more, and resolves when nothing is being claimed; what is claimed is still handed out. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const lane of this.#lanes.all()) this.#lanes.remove(lane);
    this.#pause?.cancel();
    for (const resume of [...this.#waiters.keys()]) resume(false);
    await this.#claiming;
  }

  /** Time is up: nothing more is sent, claimed or not. */
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
    // Whoever sends it sees the failure.
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

  /** True when there are lanes of a tenant that is not held back. */
  get #mayClaim(): boolean {
    if (this.#pause || this.#isClosed) return false;
    for (const tenantId of this.#lanes.tenants()) if (!this.#isHeldBack(tenantId)) return true;
    return false;
  }

  /** One claim at a time. Answers whether it got anything; never rejects. */
  #claimMore(): Promise<boolean> {
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
      // Whoever asked for it may be gone.
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
      this.#app.notices.notify('events');
      return deliveries.length > 0 || this.#lanes.size > 0;
    } catch (error) {
      this.#app.log.error({ err: error, site: this.key }, 'mail could not be claimed');
      this.#pauseAfterError();
      return false;
    } finally {
      for (const [messageId, lanes] of picked) for (const lane of lanes) lane.claimed(messageId);
    }
  }

  #claimOf(picked: Picked): Claim {
    const found = [...picked.values()].flat();
    const lanes = new Set(found.map((lane) => lane.key));
    for (const tenantId of new Set(found.map((lane) => lane.name.tenantId))) {
      for (const lane of this.#lanes.lanesOf(tenantId)) {
        if (lanes.size >= LANES_TOGETHER) break;
        lanes.add(lane.key);
      }
    }
    return {
      now: this.#app.clock.now(),
      epoch: this.#app.epoch,
      leasedUntil: leaseFrom(this.#app.clock.elapsed()),
      messageIds: [...picked.keys()],
      lanes: [...lanes],
    };
  }

  async #pick(picked: Picked): Promise<void> {
    if (this.#pause) return;
    const ahead = Math.max(this.sessions * AHEAD_PER_SESSION, LEAST_AHEAD);
    const wanted = Math.min(ahead - this.#claimed.length, MOST_CLAIMED);
    const fruitless = new Set<Lane>();
    for (let looks = 1; picked.size < wanted; looks++) {
      const lane = this.#lanes.next(this.#isHeldBack);
      if (!lane) return;
      if (fruitless.has(lane) && fruitless.size >= this.#lanes.count(this.#isHeldBack)) return;
      if (this.#isStale(lane)) continue;
      const messageId = await lane.next();
      if (messageId !== undefined) picked.set(messageId, [...(picked.get(messageId) ?? []), lane]);
      else fruitless.add(lane);
      if (lane.isDone) {
        this.#drop(lane);
        // What is gone is not counted among those that are left.
        fruitless.delete(lane);
      }
      if (looks % LANES_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Not in the middle of a claim: elsewhere it would seem to have work, and have none until that is over. */
  #isStale(lane: Lane): boolean {
    if (lane.isBeingClaimed || lane.routedUntil > this.#app.clock.elapsed()) return false;
    this.#lanes.remove(lane);
    this.#events.onStale(lane);
    return true;
  }

  #drop(lane: Lane): void {
    this.#lanes.remove(lane);
    this.#events.onDone(lane);
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
