/**
 * A site is a destination of mail, with the queues that lead there: the hosts of one or of a thousand domains, the
 * simulator, or a dead end. It has deliveries claimed ahead of its sessions (claimer.ts), hands them out, and keeps for
 * each what a session holds until it is settled.
 */
import type { Claim } from '../claim.ts';
import { parseQueueKey } from '../queue-key.ts';
import { Claimer, type ClaimerEvents, type SiteApp } from './claimer.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { Pace } from './pace.ts';
import { Rate } from './rate.ts';
import type { Route } from './route.ts';
import type { Slot } from './slots.ts';

/** Time for which mail for an address is sent in plain text after TLS has failed with it. */
const PLAIN_TEXT_FOR_MS = 24 * 3_600_000;
/** Time for which an address that broke off a session is avoided while the site has others. */
const AVOID_MS = 60_000;

/** Number of deliveries in memory ahead of each session, so that none waits for a commit. */
const AHEAD_PER_SESSION = 2;
const MIN_AHEAD = 4;
export type SiteEvents = Pick<ClaimerEvents, 'onDone' | 'onStale'> & {
  /** Is called when the site may want another session, or no longer wants one. */
  onChange(site: Site): void;
  /** Returns true when the tenant has so many connections that nothing more is claimed for it here (sessions/slots.ts). */
  isHeldBack(tenantId: string, site: Site): boolean;
};

type SiteOptions = {
  route: Route;
  maxConnections: number;
  /** Null when the site takes mail for as many recipients as it can. */
  recipientsPerMinute: number | null;
  events: SiteEvents;
};

/** A claim in the hands of a session: the slot that it counts for, and the claim itself once it is being sent. */
type Taken = { slot: Slot; sending: Claim | undefined };

export class Site {
  readonly key: string;
  readonly addresses = new Addresses();
  readonly pace: Pace;
  route: Route;
  /** Number of open sessions with the site. */
  sessions = 0;
  readonly #app: SiteApp;
  readonly #events: SiteEvents;
  readonly #claimer: Claimer;
  /** Idle sessions, each with the function that ends its wait. */
  readonly #waiters = new Map<(more: boolean) => void, Slot>();
  /** Claims that sessions have taken and that are not settled, by their id. */
  readonly #taken = new Map<Claim['id'], Taken>();
  /** Claims that no session has taken yet. */
  #claimed: Claim[] = [];
  #lastClaimId = 0;
  #claiming: Promise<boolean> | undefined;
  #isClosed = false;
  #isAbandoned = false;

  constructor(app: SiteApp, options: SiteOptions) {
    this.#app = app;
    this.key = options.route.site;
    this.route = options.route;
    this.pace = new Pace(options.maxConnections);
    this.#events = options.events;
    const { onDone, onStale, isHeldBack } = options.events;
    this.#claimer = new Claimer(app, {
      site: this.key,
      rate: options.recipientsPerMinute === null ? undefined : new Rate(options.recipientsPerMinute),
      events: {
        onDone,
        onStale,
        onResume: () => this.wake(),
        isHeldBack: (tenantId) => isHeldBack(tenantId, this),
      },
    });
  }

  /** True when this site has mail waiting and may open another session. */
  get wantsSession(): boolean {
    return this.hasWork && this.#waiters.size === 0 && this.sessions < this.pace.connections;
  }

  get hasWork(): boolean {
    return this.#claimed.length > 0 || this.#claimer.hasWork;
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
    for (const { scheduledFor } of this.#claimed) yield scheduledFor;
    yield* this.#claimer.tenants();
  }

  hasMailOf(tenantId: string): boolean {
    return this.#claimer.has(tenantId) || this.#claimed.some(({ scheduledFor }) => scheduledFor === tenantId);
  }

  get isEmpty(): boolean {
    const hasMail = this.#claimed.length > 0 || this.#claiming !== undefined || !this.#claimer.isEmpty;
    return !hasMail && this.sessions === 0;
  }

  add(queue: DeliveryQueue): void {
    this.#claimer.add(queue);
    this.wake();
  }

  /** Takes back some recipients of a claim that a session has taken. They become a claim of their own, the next one. */
  putBack(undecided: Claim): void {
    const taken = this.#taken.get(undecided.id);
    if (taken?.sending) {
      const isBack = new Set(undecided.recipients.map(({ id }) => id));
      const recipients = taken.sending.recipients.filter(({ id }) => !isBack.has(id));
      taken.sending = { ...taken.sending, recipients };
    }
    if (this.#isAbandoned) return;
    this.#claimed.unshift({ ...undecided, id: ++this.#lastClaimId });
    this.wake();
  }

  /** Notes that a claim is about to be sent. Returns false when nothing more may be sent, because the daemon stops. */
  startSending(claim: Claim): boolean {
    const taken = this.#taken.get(claim.id);
    if (!taken || this.#isAbandoned) return false;
    taken.sending = claim;
    return true;
  }

  /** Ids of the recipients that are being sent to. Their outcome is not known. */
  get sendingRecipientIds(): string[] {
    return [...this.#taken.values()].flatMap(({ sending }) => sending?.recipients.map(({ id }) => id) ?? []);
  }

  /** Notes that a session is done with a claim, and releases the slot that the claim counted for. */
  settled(id: Claim['id']): void {
    this.#taken.get(id)?.slot.settled();
    this.#taken.delete(id);
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
    this.#claimer.close();
    for (const resume of [...this.#waiters.keys()]) resume(false);
    await this.#claiming;
  }

  /** Discards the claimed mail: from now on nothing more is sent. */
  abandon(): void {
    this.#isAbandoned = true;
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
  async take(idleMs: number, slot: Slot): Promise<Claim | undefined> {
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
  async takeLast(slot: Slot): Promise<Claim | undefined> {
    if (this.sessions > 1) return undefined;
    await this.#claiming;
    return this.#takeClaimed(slot);
  }

  #takeClaimed(slot: Slot): Claim | undefined {
    const next = this.#claimed.shift();
    if (!next) return undefined;
    slot.assign(next.scheduledFor, this.isProven);
    this.#taken.set(next.id, { slot, sending: undefined });
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
    this.#app.prepare(following).catch(() => {});
    this.wake();
  }

  #wait(idleMs: number, slot: Slot): Promise<boolean> {
    // Mail that arrived after the last claim has not woken any session.
    if (this.#claimer.mayClaim || this.#claimed.length > 0) return Promise.resolve(true);
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
    const ahead = Math.max(this.sessions * AHEAD_PER_SESSION, MIN_AHEAD);
    const deliveries = await this.#claimer.claim(ahead - this.#claimed.length);
    if (!deliveries) return false;
    const claimedAt = this.#app.clock.elapsed();
    for (const delivery of deliveries) {
      const id = ++this.#lastClaimId;
      const scheduledFor = parseQueueKey(delivery.recipients[0]?.queue ?? '').tenantId;
      const claimed = { id, site: this.key, scheduledFor, claimedAt, tries: 0, brokenOff: undefined };
      this.#insert({ ...delivery, ...claimed, conversation: [] });
    }
    return deliveries.length > 0 || !this.#claimer.isEmpty;
  }

  /**
   * Adds a claim. Transactional mail does not wait for the copies of broadcasts that are claimed already. Those cannot wait
   * for ever, because what is claimed ahead is bounded: once they fill it, nothing else is claimed before them.
   */
  #insert(claim: Claim): void {
    const isUrgent = claim.message.kind === 'transactional';
    const before = isUrgent ? this.#claimed.findIndex(({ message }) => message.kind === 'broadcast') : -1;
    this.#claimed.splice(before < 0 ? this.#claimed.length : before, 0, claim);
  }
}

/**
 * Remembers which addresses of a site are avoided or need plain text. Times are milliseconds of the monotonic clock.
 */
export class Addresses {
  readonly #avoidedUntil = new Map<string, number>();
  readonly #plainTextUntil = new Map<string, number>();

  avoid(address: string, now: number): void {
    this.#avoidedUntil.set(address, now + AVOID_MS);
  }

  isAvoided(address: string, now: number): boolean {
    return (this.#avoidedUntil.get(address) ?? 0) > now;
  }

  rememberPlainText(address: string, now: number): void {
    this.#plainTextUntil.set(address, now + PLAIN_TEXT_FOR_MS);
  }

  needsPlainText(address: string, now: number): boolean {
    return (this.#plainTextUntil.get(address) ?? 0) > now;
  }

  /** Forgets all addresses that are not in the set, because they no longer belong to the site. */
  keepOnly(addresses: ReadonlySet<string>): void {
    for (const map of [this.#avoidedUntil, this.#plainTextUntil]) {
      for (const address of map.keys()) if (!addresses.has(address)) map.delete(address);
    }
  }
}
