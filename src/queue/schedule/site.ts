/** The state of one site in the schedule: its queues, the mail that is claimed for it, its sessions and its limits. */
import type {
  ClaimedMail,
  Experience,
  FullWarmUp,
  PoolName,
  QueueName,
  Rest,
  SessionSituation,
} from './events.ts';
import { ImposedRests } from './imposed-rests.ts';
import { Learned } from './learned.ts';
import type { SiteLimits } from './limits.ts';
import { isUrgent, QueueOrder, URGENT_IN_A_ROW } from './queue-order.ts';
import { Rate } from './rate.ts';
import type { Slot } from './slots.ts';

/** Number of messages that are claimed ahead of each session, so that none waits for a commit. */
const AHEAD_PER_SESSION = 2;
const MIN_AHEAD = 4;
/** Maximum number of messages claimed in one transaction. */
const MAX_MESSAGES_PER_CLAIM = 64;
/** Number of sessions from which one is kept for urgent mail, so that copies of broadcasts lose at most a tenth of them. */
const MIN_SESSIONS_BESIDE_KEPT = 10;
/** Time after urgent mail in which a session is kept for more of it. It is that for which an open connection waits for mail. */
const KEPT_MS = 5_000;

/** A queue in which mail may be due. */
export type Queue = {
  readonly name: QueueName;
  site: Site | undefined;
  /** Time until which its way is valid. */
  routedUntil: number;
  /** True when mail may be due that the claim which is being written does not see. */
  mayHaveMore: boolean;
  /** Only retries are claimed until then; null when the queue has no way or its source takes all mail. */
  fullWarmUp: FullWarmUp | null;
};

/** A session that waits for the next message, until `idleUntil`. */
type Ready = SessionSituation & { idleUntil: number };

export type Session = {
  readonly id: number;
  readonly site: Site;
  readonly slot: Slot;
  /** Name of the group that the connection counts in; undefined for none. */
  readonly group: string | undefined;
  ready: Ready | undefined;
  /** True until it is given its first message. */
  isNew: boolean;
  isConnected: boolean;
  /** True while others need the connection more: the session takes what is claimed already, and ends. */
  isLast: boolean;
  /** True once it was told to end, or has given up its connection. */
  isEnding: boolean;
  /** True once the operator has ended it: it takes no more mail. */
  isDismissed: boolean;
  isGivenUp: boolean;
};

export class Site {
  readonly key: string;
  readonly pool: PoolName;
  readonly queues = new QueueOrder<Queue>();
  readonly sessions = new Set<Session>();
  /** Claims that no session has taken yet. */
  ahead: ClaimedMail[] = [];
  /** Number of other messages that were taken since copies of broadcasts wait. */
  #overtaking = 0;
  /** Time at which urgent mail was last claimed. */
  #urgentAt = Number.NEGATIVE_INFINITY;
  /** Number of claims that sessions have taken and that are not settled. */
  unsettled = 0;
  /** Queues of the claim that is being written. */
  claiming: readonly Queue[] | undefined;
  /** Time until which nothing is claimed, because a claim has failed. */
  pausedUntil = 0;
  /** Time at which the schedule looks at the site again; undefined when nothing changes by itself. */
  wakeAt: number | undefined;
  #limits: SiteLimits;
  #recipients: Rate | undefined;
  #connections: Rate | undefined;
  #learned = new Learned();
  readonly #imposed = new ImposedRests();

  constructor(key: string, pool: PoolName, limits: SiteLimits) {
    this.key = key;
    this.pool = pool;
    this.#limits = limits;
    this.limits = limits;
  }

  get learned(): Learned {
    return this.#learned;
  }

  /** Forgets all that deliveries have taught, so that the site is served as a new one. What rules have imposed stays in force. */
  forgetLearned(now: number): void {
    this.#learned = new Learned();
    if (this.#imposed.ofSite(now)) this.#learned.probeFirst();
  }

  get limits(): SiteLimits {
    return this.#limits;
  }

  /** Sets the limits and the rests that rules have imposed, instead of those before. */
  shape(limits: SiteLimits, rests: readonly Rest[], now: number): void {
    this.limits = limits;
    this.#imposed.replace(rests);
    if (this.#imposed.ofSite(now)) this.learned.probeFirst();
  }

  /** Changed rates begin anew, with a burst of at most a second. */
  set limits(limits: SiteLimits) {
    const before = this.#limits;
    this.#limits = limits;
    if (!this.#recipients || limits.recipientsPerMinute !== before.recipientsPerMinute)
      this.#recipients = rateOf(limits.recipientsPerMinute);
    if (!this.#connections || limits.connectionsPerMinute !== before.connectionsPerMinute)
      this.#connections = rateOf(limits.connectionsPerMinute);
  }

  /** True when it needs no session: a site without mail that anybody waits for. */
  get isEmpty(): boolean {
    return this.ahead.length === 0 && !this.claiming && this.queues.size === 0 && this.sessions.size === 0;
  }

  /** A site that needs no connection always counts as proven, since it cannot block anybody. */
  isProven(now: number): boolean {
    return this.pool === 'local' || this.learned.isProven(now);
  }

  /** Returns the number of connections that the site may have now. */
  allowedConnections(now: number): number {
    return this.learned.connections(this.#limits.connections, now);
  }

  /** Yields the tenants whose mail waits here and may be claimed. A tenant may occur more than once. */
  *tenants(now: number): Iterable<string> {
    for (const { tenantId } of this.ahead) yield tenantId;
    for (const tenantId of this.queues.tenants()) if (!this.restOf(tenantId, now)) yield tenantId;
  }

  hasMailOf(tenantId: string, now: number): boolean {
    return (
      this.ahead.some((mail) => mail.tenantId === tenantId) ||
      (this.queues.has(tenantId) && !this.restOf(tenantId, now))
    );
  }

  /** Returns the rest of the whole site that ends last; undefined when it does not rest now. */
  restAt(now: number): { until: number; reason: string } | undefined {
    const learned = this.learned.restAt(now);
    const imposed = this.#imposed.ofSite(now);
    return learned && imposed ? (learned.until > imposed.until ? learned : imposed) : (learned ?? imposed);
  }

  /** Returns the rest of a tenant at the site; undefined when its mail may be claimed. */
  restOf(tenantId: string, now: number): Rest | undefined {
    return this.#imposed.ofTenant(tenantId, now);
  }

  /**
   * Removes and returns claimed mail that must not be sent now: all of it when a rule lets the site rest, or when the site rests after
   * failures and has no connection that works; otherwise that of tenants that rest.
   */
  takeUnsendable(now: number): ClaimedMail[] {
    if (this.ahead.length === 0) return [];
    const isSilent = this.#imposed.ofSite(now) !== undefined || this.#restsWithoutConnection(now);
    const mustWait = ({ tenantId }: ClaimedMail) => isSilent || this.restOf(tenantId, now) !== undefined;
    const unsendable = this.ahead.filter(mustWait);
    if (unsendable.length > 0) this.ahead = this.ahead.filter((mail) => !mustWait(mail));
    return unsendable;
  }

  #restsWithoutConnection(now: number): boolean {
    if (!this.learned.restAt(now)) return false;
    for (const { isConnected } of this.sessions) if (isConnected) return false;
    return true;
  }

  /** Learns how the peer has treated a session. */
  learn(session: Session, experience: Experience, now: number): void {
    session.isConnected = experience.kind === 'accepted' && this.pool === 'remote';
    switch (experience.kind) {
      case 'accepted':
        this.learned.accepted(this.#limits.connections, now);
        // Mail that was under way when a rule let the site rest does not show that the site wants more.
        if (this.#imposed.ofSite(now)) this.learned.probeFirst();
        return;
      case 'broke-off':
        this.learned.brokeOff(experience.text, now);
        return;
      case 'refused':
        this.learned.refused(experience.refusal, { others: this.connectedBeside(session), now });
        return;
    }
  }

  /** Returns the tenants that rest at the site. */
  restingTenants(now: number): { tenantId: string; until: number; reason: string }[] {
    return this.#imposed.tenants(now);
  }

  /** Returns the time at which mail may be claimed again; `now` or earlier when nothing keeps it. */
  claimableAt(now: number): number {
    const rate = now + (this.#recipients?.waitMs(now) ?? 0);
    return Math.max(this.pausedUntil, this.restAt(now)?.until ?? 0, rate);
  }

  /** Returns the time at which another connection may be opened; `now` or earlier when that is at once. */
  connectableAt(now: number): number {
    return now + (this.#connections?.waitMs(now) ?? 0);
  }

  /** Returns true when the site has mail that can be sent now, whoever it is of. */
  hasWork(now: number): boolean {
    return this.ahead.length > 0 || (this.queues.size > 0 && this.claimableAt(now) <= now);
  }

  /** Returns true when the site has mail waiting and may open another session. */
  wantsSession(now: number): boolean {
    if (this.sessions.size >= this.allowedConnections(now) || this.restAt(now)) return false;
    return this.hasWork(now) && !this.hasFreeSession && this.connectableAt(now) <= now;
  }

  /**
   * Returns true when a session without a connection may open one: the site takes more than the others have. One that ends has its
   * connection until then. The first connection of a session counted for the rate when the session was opened.
   */
  mayConnect(session: Session, now: number): boolean {
    if (this.restAt(now) || (!session.isNew && this.connectableAt(now) > now)) return false;
    let others = 0;
    for (const other of this.sessions)
      if (other !== session && (!other.isEnding || other.isConnected)) others++;
    return others < this.allowedConnections(now);
  }

  /** True when more sessions stay open than the limit allows, because it has become lower. */
  get hasExcessSessions(): boolean {
    if (this.sessions.size <= this.#limits.connections) return false;
    let staying = 0;
    for (const { isEnding } of this.sessions) if (!isEnding) staying++;
    return staying > this.#limits.connections;
  }

  /** True when a session waits for mail, or is about to ask for its first. */
  get hasFreeSession(): boolean {
    for (const { ready, isNew, isEnding } of this.sessions) if ((ready || isNew) && !isEnding) return true;
    return false;
  }

  /** Number of sessions with an open connection, other than this one. */
  connectedBeside(session: Session): number {
    let count = 0;
    for (const other of this.sessions) if (other !== session && other.isConnected) count++;
    return count;
  }

  /** Number of messages that the next claim should have; 0 or less when enough are claimed. */
  wantedAhead(): number {
    if (this.learned.isProbed) return this.ahead.length + this.unsettled === 0 ? 1 : 0;
    const ahead = Math.max(this.sessions.size * AHEAD_PER_SESSION, MIN_AHEAD);
    return Math.min(ahead - this.ahead.length, this.#maxPerClaim);
  }

  /** Number of urgent messages that the next claim should have, although copies of broadcasts fill what is claimed ahead. */
  wantedUrgent(): number {
    const [first] = this.ahead;
    if (first === undefined || isUrgent(first.band)) return 0;
    if (this.ahead.length < this.sessions.size && !this.hasFreeSession) return 0;
    if (!this.queues.hasUrgent || this.learned.isProbed) return 0;
    return Math.min(this.sessions.size, this.#maxPerClaim);
  }

  get #maxPerClaim(): number {
    return Math.min(this.#recipients?.perClaim ?? MAX_MESSAGES_PER_CLAIM, MAX_MESSAGES_PER_CLAIM);
  }

  /** Notes that a claim is written, and returns its queues. */
  endClaim(): readonly Queue[] {
    const { claiming = [] } = this;
    this.claiming = undefined;
    return claiming;
  }

  countRecipients(recipients: number, now: number): void {
    this.#recipients?.spend(recipients, now);
  }

  countConnection(now: number): void {
    this.#connections?.spend(1, now);
  }

  /**
   * Adds a claim. Other mail does not wait for the copies of broadcasts that are claimed already, up to their share (`takeAhead`).
   */
  insert(mail: ClaimedMail, now: number): void {
    if (isUrgent(mail.band)) this.#urgentAt = now;
    this.ahead.splice(isUrgent(mail.band) ? this.#firstCopy : this.ahead.length, 0, mail);
  }

  /** Adds a claim that comes back, as the first of its kind. Copies of broadcasts stay behind other mail. */
  putBack(mail: ClaimedMail): void {
    this.ahead.splice(isUrgent(mail.band) ? 0 : this.#firstCopy, 0, mail);
  }

  /** Index of the first copy of a broadcast that is claimed; that of the end when there is none. */
  get #firstCopy(): number {
    const at = this.ahead.findIndex(({ band }) => !isUrgent(band));
    return at < 0 ? this.ahead.length : at;
  }

  /**
   * Removes and returns the claim that the session sends next. Copies of broadcasts that wait get the share that they have of a round.
   * Returns undefined when only copies wait and the session is kept for urgent mail.
   */
  takeAhead(session: Session, now: number): ClaimedMail | undefined {
    const isTurnOfCopies = this.#overtaking >= URGENT_IN_A_ROW;
    if (this.#firstCopy === 0 && !isTurnOfCopies && this.#isKept(session, now)) return undefined;
    const at = isTurnOfCopies ? this.ahead.findIndex(({ band }) => !isUrgent(band)) : 0;
    const [mail] = this.ahead.splice(Math.max(at, 0), 1);
    const last = this.ahead.at(-1);
    const isOvertaking = mail && isUrgent(mail.band) && last && !isUrgent(last.band);
    this.#overtaking = isOvertaking ? this.#overtaking + 1 : 0;
    return mail;
  }

  /**
   * Returns true for the only session that waits at a site with all its connections, while there is urgent mail from time to time. In a
   * session that has just sent a copy, urgent mail would wait until the peer has taken the copy.
   */
  #isKept(session: Session, now: number): boolean {
    if (now >= this.#urgentAt + KEPT_MS || !session.ready?.isConnected) return false;
    if (this.sessions.size < Math.max(MIN_SESSIONS_BESIDE_KEPT, this.allowedConnections(now))) return false;
    for (const { ready, isEnding, id } of this.sessions)
      if (id !== session.id && ready?.isConnected && !isEnding) return false;
    return true;
  }

  /** Returns the earliest time after `now` at which something about the site changes by itself. */
  nextChangeAt(now: number): number | undefined {
    const times: number[] = [];
    if (this.queues.size > 0) {
      times.push(this.claimableAt(now), this.connectableAt(now));
      times.push(...this.#imposed.ends());
    } else if (this.ahead.length > 0) times.push(this.connectableAt(now));
    for (const { ready, isEnding } of this.sessions) if (ready && !isEnding) times.push(ready.idleUntil);
    const later = times.filter((time) => time > now);
    return later.length > 0 ? Math.min(...later) : undefined;
  }
}

function rateOf(perMinute: number | null): Rate | undefined {
  return perMinute === null ? undefined : new Rate(perMinute);
}
