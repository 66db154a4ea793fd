/**
 * The schedule decides what the delivery engine does next: which mail is claimed, which site gets a connection, which session
 * sends what, and when the next decision is due. It is one value without any input or output: events go in, decisions come out,
 * and time is an argument. The dispatcher (dispatcher.ts) tells it the events and carries out the decisions.
 */
import type {
  ClaimedMail,
  Decision,
  Destination,
  Experience,
  QueueName,
  ScheduleEvent,
  SessionSituation,
  Weights,
} from './events.ts';
import { explainQueue, explainSite, type QueueExplanation, type SiteExplanation } from './explain.ts';
import { claimOf, pickQueues } from './pick.ts';
import type { NextConnection, Pool } from './pool.ts';
import { type SessionOptions, SessionTable } from './session-table.ts';
import { type Queue, type Session, Site } from './site.ts';
import { SiteTable } from './site-table.ts';

/** Pause of a site after a claim that failed, for example because the disk is full. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

export class Schedule {
  readonly #queues = new Map<string, Queue>();
  readonly #sites = new SiteTable();
  readonly #sessions: SessionTable;
  #weights: Weights = new Map();
  #isStopping = false;
  #now = 0;
  #decisions: Decision[] = [];

  constructor(options: SessionOptions) {
    this.#sessions = new SessionTable(options);
  }

  /** Time at which the schedule wants to be told the time; undefined when nothing changes by itself. */
  get wakeAt(): number | undefined {
    return this.#sites.wakeAt;
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
    const session = this.#sessions.find(sessionId);
    return session !== undefined && this.#sessions.poolOf(session.site).isPressed(session, now);
  }

  /** Returns true when the site of the session rests, so that no other session takes its mail. */
  isResting(sessionId: number, now: number): boolean {
    return this.#sessions.find(sessionId)?.site.restAt(now) !== undefined;
  }

  /** Returns true when the site of the session has other connections that work. */
  isServedByOthers(sessionId: number): boolean {
    const session = this.#sessions.find(sessionId);
    return session !== undefined && session.site.connectedBeside(session) > 0;
  }

  /** Returns the limits of a site, and the one that binds now; undefined for a site without mail or a session. */
  explain(key: string, now: number): SiteExplanation | undefined {
    const site = this.#sites.find(key);
    return (
      site && explainSite(site, { pool: this.#sessions.poolOf(site), groups: this.#sessions.groups, now })
    );
  }

  /** Returns what the mail of a queue waits for; undefined when nothing of it is due. */
  explainQueue(key: string, now: number): QueueExplanation | undefined {
    const queue = this.#queues.get(key);
    const site = queue?.site && this.explain(queue.site.key, now);
    return queue && explainQueue(queue, { site, waiting: this.#sites.waitOf(key) });
  }

  /** Yields the keys of the queues with due mail at a site. One that changes its place during the iteration may occur again. */
  queuesAt(site: string): Iterable<string> {
    return this.#sites.queuesAt(site);
  }

  /** Yields the keys of the queues with due mail that are at a site, and the key of the site. The queues may change during the iteration. */
  *queues(): Iterable<{ queue: string; site: string }> {
    for (const [queue, { site }] of this.#queues) if (site) yield { queue, site: site.key };
  }

  #take(event: ScheduleEvent): void {
    switch (event.kind) {
      case 'due':
        this.#activate(event);
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
          site.putBack(event.mail);
          this.#serve(site);
        });
        return;
      case 'shaped':
        this.#changeSite(event.site, (site) => site.shape(event.limits, event.rests, this.#now));
        return;
      case 'rest-lifted':
        this.#changeSite(event.site, (site) => site.learned.endRest());
        return;
      case 'unlearned':
        this.#changeSite(event.site, (site) => site.forgetLearned(this.#now));
        return;
      case 'dismissed':
        this.#withSession(event.session, (session) => {
          session.isDismissed = true;
          this.#serve(session.site);
        });
        return;
      case 'weights':
        this.#weights = event.weights;
        return;
      case 'stopping':
        this.#stop();
        return;
      case 'time':
        this.#wake();
        return;
    }
  }

  /** Recipients of one message may be in several queues, so these are all known before anything is claimed. */
  #activate({ queues, withRetries }: Extract<ScheduleEvent, { kind: 'due' }>): void {
    if (this.#isStopping) return;
    const sites = new Set<Site>();
    for (const name of queues) {
      const known = this.#queues.get(name.key);
      if (!known) this.#addQueue(name);
      // First attempts change nothing about a queue of which only retries are claimed.
      else if (!known.fullWarmUp || withRetries.has(name.key)) {
        known.mayHaveMore = true;
        if (known.site) sites.add(known.site);
        else if (known.fullWarmUp && this.#sites.endWaitOf(known)) this.#routeAgain(known);
      }
    }
    for (const site of sites) this.#serve(site);
  }

  #addQueue(name: QueueName): void {
    const queue: Queue = { name, site: undefined, routedUntil: 0, mayHaveMore: true, fullWarmUp: null };
    this.#queues.set(name.key, queue);
    this.#decide({ kind: 'route', queue: name.key, isFirst: false });
  }

  #routed(key: string, to: Destination): void {
    const queue = this.#queues.get(key);
    if (!queue || this.#isStopping) return;
    if (to.kind === 'elsewhere') return void this.#queues.delete(key);
    if (to.kind === 'wait') {
      queue.fullWarmUp = null;
      return void this.#sites.wait(queue, to);
    }
    const site = this.#sites.at(to, this.#now);
    queue.site = site;
    queue.fullWarmUp = to.fullWarmUp;
    queue.routedUntil = Math.min(to.routedUntil, to.fullWarmUp?.until ?? Number.POSITIVE_INFINITY);
    site.queues.add(queue);
    this.#serve(site);
  }

  #expireRoutes(): void {
    for (const queue of this.#queues.values()) queue.routedUntil = 0;
    for (const queue of this.#sites.endWaits()) this.#routeAgain(queue);
    for (const site of this.#sites.all()) this.#serve(site);
  }

  #routeAgain({ name }: Queue): void {
    this.#decide({ kind: 'route', queue: name.key, isFirst: true });
  }

  /** Claims more mail for the site, unless it has enough. */
  #claimMore(site: Site): void {
    this.#claim(site, { wanted: site.wantedAhead(), isUrgent: false });
  }

  /** Claims mail for the site, unless a claim is being written or nothing may be claimed. */
  #claim(site: Site, { wanted, isUrgent }: { wanted: number; isUrgent: boolean }): void {
    if (wanted <= 0 || site.claiming || this.#isStopping || site.claimableAt(this.#now) > this.#now) return;
    const pool = this.#sessions.poolOf(site);
    const mayServe = (tenantId: string) =>
      !pool.isHeldBack(tenantId, site, this.#now) && !site.restOf(tenantId, this.#now);
    const serving = { mayServe, weights: this.#weights, isUrgent, now: this.#now };
    const { take, stale } = pickQueues(site, wanted, serving);
    for (const queue of stale) this.#routeAgain(queue);
    if (take.size === 0) return;
    site.claiming = [...take.keys()];
    for (const queue of site.claiming) queue.mayHaveMore = false;
    this.#decide(claimOf(site, take));
  }

  #claimed({ site: key, mail, recipients, exhausted }: Extract<ScheduleEvent, { kind: 'claimed' }>): void {
    this.#changeSite(key, (site) => {
      const isExhausted = new Set(exhausted);
      for (const queue of site.endClaim())
        if (isExhausted.has(queue.name.key) && !queue.mayHaveMore) this.#leaveSite(site, queue);
      site.countRecipients(recipients, this.#now);
      for (const claimed of mail) site.insert(claimed, this.#now);
    });
  }

  #claimFailed(key: string): void {
    this.#changeSite(key, (site) => {
      for (const queue of site.endClaim()) queue.mayHaveMore = true;
      site.pausedUntil = this.#now + PAUSE_AFTER_FAILURE_MS;
    });
  }

  /** Removes a queue without mail that may be claimed. First attempts may wait in it until the next day of a warm-up. */
  #leaveSite(site: Site, queue: Queue): void {
    if (queue.fullWarmUp) this.#sites.waitForNextDay(queue, queue.fullWarmUp, this.#now);
    else this.#forgetQueue(site, queue);
  }

  #forgetQueue(site: Site, queue: Queue): void {
    site.queues.remove(queue);
    this.#queues.delete(queue.name.key);
  }

  #settled(claim: ClaimedMail['id']): void {
    const session = this.#sessions.settle(claim);
    if (session) this.#serve(session.site);
  }

  #ready(session: Session, { isConnected, isLost, idleMs }: SessionSituation): void {
    const { site } = session;
    session.isConnected = isConnected;
    const pool = this.#sessions.poolOf(site);
    // A session that has sent nothing got its connection because its turn had come.
    session.isLast = session.isGivenUp || (!session.isNew && pool.isNeededElsewhere(session, this.#now));
    if (session.isLast && isLost && pool.isPressed(session, this.#now)) session.isGivenUp = true;
    session.ready = { isConnected, isLost, idleMs, idleUntil: this.#now + idleMs };
    this.#serve(site);
  }

  /** Gives claimed mail to the sessions that wait for it. */
  #handOut(site: Site): void {
    for (const session of site.sessions) {
      const { ready, isLast, isEnding } = session;
      if (!ready || isEnding) continue;
      const isOver = session.isDismissed || (isLast && site.sessions.size > 1);
      const leaves = isOver || this.#sessions.isExcess(site);
      if (leaves || (!ready.isConnected && !site.mayConnect(session, this.#now))) this.#end(session);
      else if (site.ahead.length > 0) this.#send(session);
      else if (!isLast) this.#claimMore(site);
    }
  }

  /** Ends the sessions that wait in vain. The others count for nobody while they wait. */
  #dismiss(site: Site): void {
    if (site.claiming) return;
    for (const session of site.sessions) {
      const { ready, isEnding } = session;
      if (!ready || isEnding) continue;
      if (session.isLast || this.#isStopping || ready.idleUntil <= this.#now) this.#end(session);
      else session.slot.idle();
    }
  }

  #send(session: Session): void {
    const { site, isLast } = session;
    const mail = site.takeAhead(session, this.#now);
    if (!mail) return;
    this.#sessions.take(session, mail, this.#now);
    this.#decide({ kind: 'send', session: session.id, claim: mail.id, isGivenUp: session.isGivenUp });
    const [following] = site.ahead;
    if (following) this.#decide({ kind: 'prepare', claim: following.id });
    if (!isLast && site.ahead.length < site.sessions.size) this.#claimMore(site);
  }

  #end(session: Session): void {
    this.#sessions.leave(session);
    this.#decide({ kind: 'end', session: session.id });
  }

  #ended(session: Session): void {
    const { site } = session;
    this.#sessions.close(session);
    this.#serve(site);
    this.#openWaiting(this.#sessions.poolOf(site));
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
      this.#open(next);
    }
  }

  #open(next: NextConnection): void {
    const { site } = next;
    const { id } = this.#sessions.open(next, this.#now);
    const { messagesPerConnection } = site.limits;
    this.#decide({ kind: 'open', session: id, site: site.key, messagesPerConnection });
    this.#sessions.poolOf(site).enqueue(site, this.#now);
  }

  #learn(session: Session, experience: Experience): void {
    session.site.learn(session, experience, this.#now);
    this.#serve(session.site);
  }

  /** Makes mail due again that is claimed and must not be sent now. */
  #release(site: Site): void {
    const unsendable = site.takeUnsendable(this.#now);
    if (unsendable.length > 0) this.#decide({ kind: 'release', claims: unsendable.map(({ id }) => id) });
  }

  /** Takes all steps of the site that are possible now. */
  #serve(site: Site): void {
    this.#release(site);
    this.#handOut(site);
    this.#claim(site, { wanted: site.wantedUrgent(), isUrgent: true });
    this.#dismiss(site);
    const pool = this.#sessions.poolOf(site);
    pool.enqueue(site, this.#now);
    this.#openWaiting(pool);
    this.#sites.setAlarm(site, this.#now);
    if (site.isEmpty && this.#sites.remove(site)) this.#decide({ kind: 'forget', site: site.key });
  }

  #wake(): void {
    for (let due = this.#sites.nextDue(this.#now); due; due = this.#sites.nextDue(this.#now)) {
      if (due instanceof Site) this.#serve(due);
      else this.#routeAgain(due);
    }
  }

  #stop(): void {
    this.#isStopping = true;
    for (const site of this.#sites.all()) {
      for (const queue of [...site.queues.all()]) this.#forgetQueue(site, queue);
      this.#serve(site);
    }
  }

  #withSession(id: number, run: (session: Session) => void): void {
    const session = this.#sessions.find(id);
    if (session) run(session);
  }

  /** Changes a site that is known, and takes the steps that follow. */
  #changeSite(key: string, change: (site: Site) => void): void {
    const site = this.#sites.find(key);
    if (!site) return;
    change(site);
    this.#serve(site);
  }

  #decide(decision: Decision): void {
    this.#decisions.push(decision);
  }
}
