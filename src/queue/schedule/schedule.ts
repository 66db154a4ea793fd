/**
 * The schedule decides what the delivery engine does next: which mail is claimed, which site gets a connection, which session
 * sends what, and when the next decision is due. It is one value without any input or output: events go in, decisions come out,
 * and time is an argument. The dispatcher (dispatcher.ts) tells it the events and carries out the decisions.
 */
import { IndexedHeap } from '../../system/indexed-heap.ts';
import { createLru } from '../../system/lru.ts';
import type {
  ClaimedMail,
  Decision,
  Destination,
  PoolName,
  QueueName,
  Rest,
  ScheduleEvent,
  SessionSituation,
} from './events.ts';
import { explainSite, type SiteExplanation } from './explain.ts';
import { Groups } from './groups.ts';
import { Pool } from './pool.ts';
import { type Queue, type Session, Site } from './site.ts';

/** Maximum number of sites without mail whose pace is remembered. */
const MAX_SITES = 10_000;
/**
 * Maximum number of concurrent sessions that need no connection: with the simulator, and with sites that DNS has ruled out.
 */
const MAX_LOCAL_SESSIONS = 128;
/** Maximum number of delivery queues whose recipients of a message share one transaction. */
const MAX_QUEUES_PER_CLAIM = 200;
/** Pause of a site after a claim that failed, for example because the disk is full. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

export type ScheduleOptions = {
  /** Maximum number of open connections to all sites. */
  connections: number;
};

/** Something that is looked at again at a time. */
type Alarm = { wakeAt: number | undefined };
/** A queue without a way, until a time. */
type WaitingQueue = Alarm & { queue: Queue; reason: string };

export class Schedule {
  readonly #queues = new Map<string, Queue>();
  /** Sites with mail or a session. */
  readonly #sites = new Map<string, Site>();
  readonly #remembered = createLru<string, Site>(MAX_SITES);
  readonly #sessions = new Map<number, Session>();
  /** The session that has taken each claim that is not settled. */
  readonly #taken = new Map<ClaimedMail['id'], Session>();
  readonly #waiting = new Map<string, WaitingQueue>();
  readonly #alarms = new IndexedHeap<Alarm>((left, right) => (left.wakeAt ?? 0) < (right.wakeAt ?? 0));
  readonly #groups = new Groups();
  readonly #pools: Record<PoolName, Pool>;
  #lastSessionId = 0;
  #isStopping = false;
  #now = 0;
  #decisions: Decision[] = [];

  constructor({ connections }: ScheduleOptions) {
    const mayOpen = (site: Site) => this.#groups.mayOpen(site.limits.group);
    this.#pools = {
      remote: new Pool(connections, mayOpen),
      local: new Pool(MAX_LOCAL_SESSIONS, mayOpen),
    };
  }

  /** Time at which the schedule wants to be told the time; undefined when nothing changes by itself. */
  get wakeAt(): number | undefined {
    return this.#alarms.first?.wakeAt;
  }

  /** Returns the decisions that follow from an event. They are carried out in their order. */
  handle(event: ScheduleEvent, now: number): readonly Decision[] {
    this.#now = now;
    this.#decisions = [];
    this.#take(event);
    return this.#decisions;
  }

  /** Returns true when the session has to give up a peer that makes it wait, since other mail needs the connection. */
  isPressed(sessionId: number, now: number): boolean {
    const session = this.#sessions.get(sessionId);
    return session !== undefined && this.#poolOf(session.site).isPressed(session, now);
  }

  /** Returns true when the site of the session has other connections that work. */
  isServedByOthers(sessionId: number): boolean {
    const session = this.#sessions.get(sessionId);
    return session !== undefined && session.site.connectedBeside(session) > 0;
  }

  /** Returns the limits of a site, and the one that binds now; undefined for a site without mail or a session. */
  explain(key: string, now: number): SiteExplanation | undefined {
    const site = this.#sites.get(key) ?? this.#remembered.get(key);
    return site && explainSite(site, { pool: this.#poolOf(site), groups: this.#groups, now });
  }

  /** Returns what the mail of a queue waits for; undefined when nothing keeps it, or nothing of it is due. */
  explainQueue(
    key: string,
    now: number,
  ): SiteExplanation | { kind: 'waiting'; until: number; reason: string } | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting) return { kind: 'waiting', until: waiting.wakeAt ?? now, reason: waiting.reason };
    const site = this.#queues.get(key)?.site;
    return site && this.explain(site.key, now);
  }

  #take(event: ScheduleEvent): void {
    switch (event.kind) {
      case 'due':
        this.#activate(event.queues);
        return;
      case 'routed':
        this.#routed(event.queue, event.to);
        return;
      case 'routes-changed':
        this.#expireRoutes();
        return;
      case 'claimed':
        this.#claimed(event);
        return;
      case 'claim-failed':
        this.#claimFailed(event.site);
        return;
      case 'ready':
        this.#withSession(event.session, (session) => this.#ready(session, event.situation));
        return;
      case 'ended':
        this.#withSession(event.session, (session) => this.#ended(session));
        return;
      case 'accepted':
      case 'refused':
      case 'broke-off':
        this.#withSession(event.session, (session) => this.#learn(session, event));
        return;
      case 'settled':
        this.#settled(event.claim);
        return;
      case 'put-back':
        this.#withSession(event.session, ({ site }) => {
          site.ahead.unshift(event.mail);
          this.#serve(site);
        });
        return;
      case 'limits':
        this.#withSite(event.site, (site) => {
          site.limits = event.limits;
          this.#serve(site);
        });
        return;
      case 'rest':
        this.#withSite(event.site, (site) => {
          this.#letRest(site, event.rest);
          this.#serve(site);
        });
        return;
      case 'stopping':
        this.#stop();
        return;
      case 'time':
        this.#wake();
        return;
    }
  }

  // Queues

  /** Recipients of one message may be in several queues, so these are all known before anything is claimed. */
  #activate(names: readonly QueueName[]): void {
    if (this.#isStopping) return;
    const sites = new Set<Site>();
    for (const name of names) {
      const known = this.#queues.get(name.key);
      if (!known) this.#addQueue(name);
      else {
        known.mayHaveMore = true;
        if (known.site) sites.add(known.site);
      }
    }
    for (const site of sites) this.#serve(site);
  }

  #addQueue(name: QueueName): void {
    const queue: Queue = { name, site: undefined, routedUntil: 0, mayHaveMore: true };
    this.#queues.set(name.key, queue);
    this.#decide({ kind: 'route', queue: name.key, isFirst: false });
  }

  #routed(key: string, to: Destination): void {
    const queue = this.#queues.get(key);
    if (!queue || this.#isStopping) return;
    if (to.kind === 'wait') {
      const waiting = { queue, reason: to.reason, wakeAt: to.until };
      this.#waiting.set(key, waiting);
      this.#alarms.add(waiting);
      return;
    }
    const site = this.#siteOf(to);
    for (const rest of to.rests) this.#letRest(site, rest);
    queue.site = site;
    queue.routedUntil = to.routedUntil;
    site.queues.add(queue);
    this.#serve(site);
  }

  #siteOf({ site: key, pool, limits }: Extract<Destination, { kind: 'site' }>): Site {
    const site = this.#sites.get(key) ?? this.#remembered.get(key) ?? new Site(key, pool, limits);
    if (!this.#sites.has(key)) {
      this.#sites.set(key, site);
      this.#remembered.delete(key);
    }
    site.limits = limits;
    return site;
  }

  #expireRoutes(): void {
    for (const queue of this.#queues.values()) queue.routedUntil = 0;
    for (const waiting of [...this.#waiting.values()]) this.#routeAgain(waiting);
    for (const site of [...this.#sites.values()]) this.#serve(site);
  }

  #routeAgain(waiting: WaitingQueue): void {
    const { key } = waiting.queue.name;
    this.#waiting.delete(key);
    this.#alarms.delete(waiting);
    this.#decide({ kind: 'route', queue: key, isFirst: true });
  }

  // Claims

  /** Claims more mail for the site, unless a claim is being written, it has enough, or nothing may be claimed. */
  #claimMore(site: Site): void {
    if (site.claiming || this.#isStopping || site.claimableAt(this.#now) > this.#now) return;
    const wanted = site.wantedAhead();
    if (wanted <= 0) return;
    const take = this.#pick(site, wanted);
    if (take.size === 0) return;
    site.claiming = [...take.keys()];
    for (const queue of take.keys()) queue.mayHaveMore = false;
    this.#decide({
      kind: 'claim',
      site: site.key,
      take: [...take].map(([{ name }, limit]) => ({ queue: name.key, limit })),
      with: this.#neighbours(site, take),
    });
  }

  /** Returns the queues to claim from, each with the number of its messages. Queues whose way has expired leave the site. */
  #pick(site: Site, wanted: number): Map<Queue, number> {
    const pool = this.#poolOf(site);
    const mayServe = (tenantId: string) =>
      !pool.isHeldBack(tenantId, site, this.#now) && !site.restOf(tenantId, this.#now);
    const picked = new Map<Queue, number>();
    for (let count = 0; count < wanted; ) {
      const queue = site.queues.next(mayServe);
      if (!queue) break;
      if (queue.routedUntil > this.#now) {
        picked.set(queue, (picked.get(queue) ?? 0) + 1);
        count++;
        continue;
      }
      site.queues.remove(queue);
      queue.site = undefined;
      picked.delete(queue);
      this.#decide({ kind: 'route', queue: queue.name.key, isFirst: true });
    }
    return picked;
  }

  /** Returns queues of the same tenants at the site: recipients of one message there travel together. */
  #neighbours(site: Site, take: ReadonlyMap<Queue, number>): string[] {
    const keys = new Set([...take.keys()].map(({ name }) => name.key));
    for (const tenantId of new Set([...take.keys()].map(({ name }) => name.tenantId)))
      for (const { name } of site.queues.queuesOf(tenantId)) {
        if (keys.size >= MAX_QUEUES_PER_CLAIM) break;
        keys.add(name.key);
      }
    return [...keys];
  }

  #claimed({ site: key, mail, recipients, exhausted }: Extract<ScheduleEvent, { kind: 'claimed' }>): void {
    this.#withSite(key, (site) => {
      const isExhausted = new Set(exhausted);
      for (const queue of this.#endClaim(site))
        if (isExhausted.has(queue.name.key) && !queue.mayHaveMore) this.#forgetQueue(site, queue);
      site.countRecipients(recipients, this.#now);
      for (const claimed of mail) site.insert(claimed);
      if (site.learned.restAt(this.#now)) this.#release(site);
      this.#serve(site);
    });
  }

  #claimFailed(key: string): void {
    this.#withSite(key, (site) => {
      for (const queue of this.#endClaim(site)) queue.mayHaveMore = true;
      site.pausedUntil = this.#now + PAUSE_AFTER_FAILURE_MS;
      this.#serve(site);
    });
  }

  #endClaim(site: Site): readonly Queue[] {
    const { claiming = [] } = site;
    site.claiming = undefined;
    return claiming;
  }

  #forgetQueue(site: Site, queue: Queue): void {
    site.queues.remove(queue);
    this.#queues.delete(queue.name.key);
  }

  /** Makes mail due again that is claimed and that no connection of the site can send. */
  #release(site: Site): void {
    for (const { isConnected } of site.sessions) if (isConnected) return;
    if (site.ahead.length === 0) return;
    this.#decide({ kind: 'release', claims: site.ahead.map(({ id }) => id) });
    site.ahead = [];
  }

  #settled(claim: ClaimedMail['id']): void {
    const session = this.#taken.get(claim);
    if (!session) return;
    this.#taken.delete(claim);
    session.site.unsettled--;
    session.slot.settled();
    this.#serve(session.site);
  }

  // Sessions

  #ready(session: Session, { isConnected, isLost, idleMs }: SessionSituation): void {
    const { site } = session;
    session.isConnected = isConnected;
    const need = { isConnected, sites: this.#sites.size, now: this.#now };
    // A session that has sent nothing got its connection because its turn had come.
    const isNeeded = !session.isNew && this.#poolOf(site).isNeededElsewhere(session, need);
    const isLast = session.isGivenUp || isNeeded;
    if (isLast && isLost && this.#poolOf(site).isPressed(session, this.#now)) session.isGivenUp = true;
    session.ready = { isConnected, isLost, idleMs, idleUntil: this.#now + idleMs, isLast };
    this.#serve(site);
  }

  /** Gives claimed mail to the sessions that wait for it. */
  #handOut(site: Site): void {
    for (const session of site.sessions) {
      const { ready, isEnding } = session;
      if (!ready || isEnding) continue;
      const leaves = ready.isLast && site.sessions.size > 1;
      if (leaves || (!ready.isConnected && !site.mayConnect(session, this.#now))) this.#end(session);
      else if (site.ahead.length > 0) this.#send(session, ready);
      else if (!ready.isLast) this.#claimMore(site);
    }
  }

  /** Ends the sessions that wait in vain. The others count for nobody while they wait. */
  #dismiss(site: Site): void {
    if (site.claiming) return;
    for (const session of site.sessions) {
      const { ready, isEnding } = session;
      if (!ready || isEnding) continue;
      if (ready.isLast || this.#isStopping || ready.idleUntil <= this.#now) this.#end(session);
      else session.slot.idle();
    }
  }

  #send(session: Session, { isLast }: { isLast: boolean }): void {
    const { site } = session;
    const mail = site.ahead.shift();
    if (!mail) return;
    session.ready = undefined;
    session.isNew = false;
    session.slot.assign(mail.tenantId, site.isProven(this.#now));
    this.#taken.set(mail.id, session);
    site.unsettled++;
    this.#decide({ kind: 'send', session: session.id, claim: mail.id, isGivenUp: session.isGivenUp });
    const [following] = site.ahead;
    if (following) this.#decide({ kind: 'prepare', claim: following.id });
    if (!isLast && site.ahead.length < site.sessions.size) this.#claimMore(site);
  }

  #end(session: Session): void {
    session.isEnding = true;
    this.#decide({ kind: 'end', session: session.id });
  }

  #ended(session: Session): void {
    const { site, slot } = session;
    slot.close();
    this.#sessions.delete(session.id);
    site.sessions.delete(session);
    this.#poolOf(site).sessions.delete(session);
    this.#groups.closed(site.limits.group);
    if (site.learned.restAt(this.#now)) this.#release(site);
    this.#serve(site);
    this.#openWaiting(this.#poolOf(site));
  }

  /** Opens connections while there is mail for them and a tenant may have one. */
  #openWaiting(pool: Pool): void {
    for (;;) {
      const next = pool.next(this.#now);
      if (!next) return;
      if (pool.isFull) {
        const idle = pool.idleSession();
        // Its end opens the next connection.
        if (idle) this.#end(idle);
        return;
      }
      this.#open(pool, next);
    }
  }

  #open(pool: Pool, next: { site: Site; tenantId: string }): void {
    const { site } = next;
    const session: Session = {
      id: ++this.#lastSessionId,
      site,
      slot: pool.take(next, this.#now),
      ready: undefined,
      isNew: true,
      isConnected: false,
      isEnding: false,
      isGivenUp: false,
    };
    this.#sessions.set(session.id, session);
    site.sessions.add(session);
    pool.sessions.add(session);
    this.#groups.opened(site.limits.group);
    site.countConnection(this.#now);
    const { messagesPerConnection } = site.limits;
    this.#decide({ kind: 'open', session: session.id, site: site.key, messagesPerConnection });
    pool.enqueue(site, this.#now);
  }

  // Sites

  #learn(
    session: Session,
    event: Extract<ScheduleEvent, { kind: 'accepted' | 'refused' | 'broke-off' }>,
  ): void {
    const { site } = session;
    const { learned, limits } = site;
    if (event.kind === 'accepted') {
      session.isConnected = site.pool === 'remote';
      learned.accepted(limits.connections, this.#now);
    } else if (event.kind === 'broke-off') {
      session.isConnected = false;
      learned.brokeOff();
    } else {
      session.isConnected = false;
      learned.refused(event.refusal, { others: site.connectedBeside(session), now: this.#now });
      if (learned.restAt(this.#now)) this.#release(site);
    }
    this.#serve(site);
  }

  #letRest(site: Site, { tenantId, until, reason }: Rest): void {
    if (until <= this.#now) return;
    if (tenantId !== null) {
      site.restTenant(tenantId, { until, reason });
      return;
    }
    site.learned.restUntil(until, reason);
    this.#release(site);
  }

  /** Takes all steps of the site that are possible now. */
  #serve(site: Site): void {
    this.#handOut(site);
    this.#dismiss(site);
    const pool = this.#poolOf(site);
    pool.enqueue(site, this.#now);
    this.#openWaiting(pool);
    this.#setAlarm(site);
    if (site.isEmpty) this.#forget(site);
  }

  #setAlarm(site: Site): void {
    this.#alarms.delete(site);
    site.wakeAt = site.nextChangeAt(this.#now);
    if (site.wakeAt !== undefined) this.#alarms.add(site);
  }

  #forget(site: Site): void {
    if (!this.#sites.delete(site.key)) return;
    this.#alarms.delete(site);
    if (site.pool === 'remote') this.#remembered.set(site.key, site);
    this.#decide({ kind: 'forget', site: site.key });
  }

  #wake(): void {
    for (
      let first = this.#alarms.first;
      first && (first.wakeAt ?? 0) <= this.#now;
      first = this.#alarms.first
    ) {
      if (first instanceof Site) this.#serve(first);
      else this.#routeAgain(first as WaitingQueue);
    }
  }

  #stop(): void {
    this.#isStopping = true;
    for (const site of [...this.#sites.values()]) {
      for (const queue of [...site.queues.all()]) this.#forgetQueue(site, queue);
      this.#serve(site);
    }
  }

  #poolOf({ pool }: Site): Pool {
    return this.#pools[pool];
  }

  #withSession(id: number, run: (session: Session) => void): void {
    const session = this.#sessions.get(id);
    if (session) run(session);
  }

  #withSite(key: string, run: (site: Site) => void): void {
    const site = this.#sites.get(key) ?? this.#remembered.get(key);
    if (site) run(site);
  }

  #decide(decision: Decision): void {
    this.#decisions.push(decision);
  }
}
