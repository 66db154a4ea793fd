/**
 * The dispatcher tells the schedule (schedule/schedule.ts) what happens, and carries out what it decides: it looks up routes,
 * claims mail and runs sessions. It holds no mail itself; the database is the queue.
 */
import type { Timer } from '../system/clock.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { MAX_QUESTIONS } from '../system/dns/ask.ts';
import { createLru } from '../system/lru.ts';
import type { RunningWork } from '../system/worker.ts';
import { type Claim, claimDeliveries, type Delivery, leaseFrom } from './claim.ts';
import { Dealer } from './dealer.ts';
import type { DeliveryApp } from './delivery-app.ts';
import { destinationOf } from './destination.ts';
import { DueFinder } from './due-finder.ts';
import type { DueQueue } from './due-store.ts';
import { bandOf, parseQueueKey, queueNameOf } from './queue-key.ts';
import { releaseClaims } from './release.ts';
import { findRoute } from './routing.ts';
import { concernsUrgent } from './schedule/concerns-urgent.ts';
import type { Decision, Destination, ScheduleEvent } from './schedule/events.ts';
import { Schedule } from './schedule/schedule.ts';
import { Addresses } from './sessions/addresses.ts';
import { type RunningSession, startSession } from './sessions/session.ts';
import type { NextClaim, SessionContext } from './sessions/session-context.ts';
import { providerOfPlace } from './shaping/restriction.ts';
import { shapedSite } from './shaping/shaped-site.ts';
import { isAt, type ShapingChange } from './shaping/shaping.ts';
import type { Sites } from './shaping/site-calls.ts';
import { waitsOf } from './shaping/waiting-at.ts';
import type { Route } from './site/route.ts';
import { createSites } from './sites.ts';
import { allowanceAt } from './sources/warm-up/warm-up.ts';
import type { QueueWaits } from './waiting.ts';
import { followWeights } from './weights.ts';

/** Maximum number of sites whose addresses are remembered. */
const MAX_SITES = 10_000;
/** Maximum number of questions that a lookup of a domain asks at once: the A and AAAA records of a host. */
const QUESTIONS_PER_LOOKUP = 2;
/**
 * Maximum number of concurrent lookups of domains: no lookup waits for the questions of others. A single tenant has at
 * most three quarters of them, so a lookup of another tenant starts at once, however many domains of the first have DNS
 * servers that do not answer.
 */
const MAX_LOOKUPS = MAX_QUESTIONS / QUESTIONS_PER_LOOKUP;
const LOOKUPS_PER_FREE = 3;
export class Dispatcher implements RunningWork {
  readonly #app: DeliveryApp;
  readonly #schedule: Schedule;
  readonly #finder: DueFinder;
  readonly #dealer: Dealer;
  readonly #lookups = new ConcurrencyLimiter({ maxRunning: MAX_LOOKUPS, perFree: LOOKUPS_PER_FREE });
  /** The latest route to each site with mail or a session. */
  readonly #routes = new Map<string, Route>();
  readonly #addresses = createLru<string, Addresses>(MAX_SITES);
  /** Claims that are not settled, and those of them that are being sent. */
  readonly #claims = new Map<Claim['id'], Claim>();
  readonly #sending = new Map<Claim['id'], Claim>();
  readonly #sessions = new Map<number, RunningSession>();
  /** Sessions that wait for a decision. */
  readonly #waiting = new Map<number, (next: NextClaim | undefined) => void>();
  /** Claims that are being written. */
  readonly #claiming = new Set<Promise<void>>();
  /** Sessions, claims and releases that have not ended. */
  readonly #running = new Set<Promise<void>>();
  /** Events that have come while decisions were carried out. */
  readonly #events: ScheduleEvent[] = [];
  #isDeciding = false;
  readonly #unsubscribe: (() => void)[] = [];
  /** Number of changes of the operator's routes so far. A lookup during which it grows has to be repeated. */
  #routeChanges = 0;
  #lastClaimId = 0;
  #timer: Timer | undefined;
  #timerAt: number | undefined;
  #isStopped = false;
  /** True when nothing more may be sent, since the time to stop is up. */
  #isAbandoned = false;
  /** The operator's view of sites, and the commands for them. */
  readonly sites: Sites;

  constructor(app: DeliveryApp) {
    this.#app = app;
    const { index, count } = app.peers.share;
    this.#schedule = new Schedule({
      connections: Math.max(1, Math.floor(app.config.delivery.connections / count)),
      sessionIds: { first: index + 1, step: count },
    });
    this.#dealer = new Dealer(app);
    this.sites = createSites({
      ...app,
      schedule: this.#schedule,
      sessions: this.#sessions,
      claims: this.#claims,
      tell: (event) => this.#tell(event),
    });
    this.#finder = new DueFinder(app, (queues) => this.#due(this.#dealer.deal(queues)));
  }

  start(): void {
    const { wakeups, shaping, peers } = this.#app;
    this.#unsubscribe.push(
      peers.listen((queues) => this.#due(queues)),
      wakeups.listen('outbound-routes', () => this.#routeAll()),
      shaping.listen((change) => this.#reshape(change)),
      followWeights(this.#app, (weights) => this.#tell({ kind: 'weights', weights })),
    );
    this.#finder.start();
  }

  #due(due: readonly DueQueue[]): void {
    if (due.length === 0) return;
    const withRetries = new Set(due.filter(({ hasRetries }) => hasRetries).map(({ key }) => key));
    this.#tell({ kind: 'due', queues: due.map(({ key }) => queueNameOf(key)), withRetries });
  }

  /** Sends what is claimed, for at most `graceMs`, and puts the rest back so that the next start sends it. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#tell({ kind: 'stopping' });
    const settled = this.#finder.stop().then(() => this.#settled());
    await Promise.race([settled, new Promise<void>((resolve) => this.#app.clock.after(graceMs, resolve))]);
    this.#timer?.cancel();
    if (this.#running.size > 0) await this.#abandon();
    await Promise.all([this.#app.shaping.stop(), this.#app.tls.stop()]);
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #abandon(): Promise<void> {
    this.#isAbandoned = true;
    for (const session of [...this.#waiting.keys()]) this.#resume(session, undefined);
    await Promise.all(this.#claiming);
    const unsent = [...this.#claims.values()].filter(({ id }) => !this.#sending.has(id));
    const released = await this.#release(unsent);
    if (released > 0) this.#app.log.info({ released }, 'mail was put back unsent');
  }

  /** Tells the schedule an event, and carries out its decisions before the next event. */
  #tell(event: ScheduleEvent): void {
    if (this.#isAbandoned) return;
    if (concernsUrgent(event)) this.#app.precedence.step();
    this.#events.push(event);
    if (this.#isDeciding) return;
    this.#isDeciding = true;
    try {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) {
        const decisions = this.#schedule.handle(next, this.#app.clock.elapsed());
        for (const decision of decisions) this.#carryOut(decision);
      }
    } finally {
      this.#isDeciding = false;
    }
    this.#setTimer();
  }

  /** Sets the timer to the time of the next decision. Most events leave it as it is. */
  #setTimer(): void {
    const { wakeAt } = this.#schedule;
    if (wakeAt === this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = wakeAt;
    if (wakeAt === undefined) return;
    const { clock } = this.#app;
    this.#timer = clock.after(Math.max(0, wakeAt - clock.elapsed()), () => {
      this.#timerAt = undefined;
      this.#tell({ kind: 'time' });
    });
  }

  #carryOut(decision: Decision): void {
    switch (decision.kind) {
      case 'route': {
        const { queue, isFirst } = decision;
        const owner = parseQueueKey(queue).tenantId;
        void this.#lookups.run(() => this.#lookUp(queue), { owner, isFirst });
        return;
      }
      case 'claim': {
        const claiming = this.#claim(decision).finally(() => this.#claiming.delete(claiming));
        this.#claiming.add(claiming);
        this.#run(claiming);
        return;
      }
      case 'open':
        this.#run(this.#open(decision));
        return;
      case 'send': {
        const claim = this.#claims.get(decision.claim);
        this.#resume(decision.session, claim && { claim, isGivenUp: decision.isGivenUp });
        return;
      }
      case 'prepare': {
        const claim = this.#claims.get(decision.claim);
        const way = claim && this.#routes.get(claim.site)?.kind;
        // The session that sends this message reports the failure. The simulator and dead ends send none.
        if (claim && (way === 'hosts' || way === 'local')) this.#app.prepare(claim).catch(() => {});
        return;
      }
      case 'end':
        this.#resume(decision.session, undefined);
        return;
      case 'release': {
        const unsent = decision.claims.flatMap((id) => this.#claims.get(id) ?? []);
        this.#run(this.#release(unsent).then(() => this.#wakeQueuesOf(unsent)));
        return;
      }
      case 'forget':
        this.#routes.delete(decision.site);
        return;
    }
  }

  #run(task: Promise<unknown>): void {
    const running = task.then(
      () => {},
      (error) => this.#app.log.error({ err: error }, 'a step of a delivery failed'),
    );
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  #resume(session: number, next: NextClaim | undefined): void {
    const resume = this.#waiting.get(session);
    this.#waiting.delete(session);
    resume?.(next);
  }

  async #lookUp(key: string): Promise<void> {
    if (this.#isStopped) return;
    await this.#app.shaping.ready;
    const changes = this.#routeChanges;
    const route = await findRoute(this.#app, key);
    if (this.#isStopped) return;
    const isCurrent = changes === this.#routeChanges;
    this.#tell({ kind: 'routed', queue: key, to: this.#destinationOf(key, route, isCurrent) });
  }

  #destinationOf(key: string, route: Awaited<ReturnType<typeof findRoute>>, isCurrent: boolean): Destination {
    if (route.kind === 'elsewhere') return this.#dealer.passOn(key, route, { isCurrent });
    if (route.kind !== 'wait') this.#routes.set(route.site, route);
    if (route.kind === 'hosts')
      this.#addressesOf(route.site).keepOnly(new Set(route.hosts.flatMap(({ addresses }) => addresses)));
    return destinationOf(this.#app, route, { isCurrent });
  }

  /** Looks up the routes of all queues again. */
  #routeAll(): void {
    this.#routeChanges++;
    this.#dealer.forget();
    this.#tell({ kind: 'routes-changed' });
  }

  /** Tells the schedule the limits and the rests of the sites at a place, where they have changed. */
  #reshape({ place, isAboutSource }: ShapingChange): void {
    const { shaping } = this.#app;
    // There may be thousands of routes, and most changes are about one site.
    const isOfProvider = providerOfPlace(place) !== undefined;
    for (const route of isOfProvider ? [...this.#routes.values()] : [this.#routes.get(place)]) {
      if (route?.kind !== 'hosts') continue;
      const shaped = shapedSite(route);
      if (!isAt(shaped, place)) continue;
      const [limits, rests] = [shaping.limitsOf(shaped), shaping.restsOf(shaped)];
      this.#tell({ kind: 'shaped', site: route.site, limits, rests });
    }
    if (isAboutSource) this.#routeAll();
  }

  #addressesOf(site: string): Addresses {
    const addresses = this.#addresses.get(site) ?? new Addresses();
    this.#addresses.set(site, addresses);
    return addresses;
  }

  /** Says what the due mail of queues waits for. */
  async explainWaiting(queues: readonly string[]): Promise<QueueWaits> {
    return waitsOf(this.#schedule, queues, this.#app.clock);
  }

  async #claim(decision: Extract<Decision, { kind: 'claim' }>): Promise<void> {
    const { db, clock, runId, log } = this.#app;
    const { site, take, with: queues, retriesOnly } = decision;
    const leasedUntil = leaseFrom(clock.elapsed());
    const now = clock.now();
    const route = this.#routes.get(site);
    const warmUp = route?.kind === 'hosts' ? allowanceAt(route.warmUp, now) : null;
    const request = { now, runId, leasedUntil, site, take, queues, retriesOnly, warmUp };
    try {
      const { deliveries, exhausted } = await db.commit(claimDeliveries, request);
      const mail = deliveries.map((delivery) => this.#addClaim(delivery, site));
      const recipients = deliveries.reduce((sum, delivery) => sum + delivery.recipients.length, 0);
      this.#tell({ kind: 'claimed', site, mail, recipients, exhausted });
    } catch (error) {
      log.error({ err: error, site }, 'mail could not be claimed');
      this.#tell({ kind: 'claim-failed', site });
    }
  }

  #addClaim(delivery: Delivery, site: string) {
    const id = ++this.#lastClaimId;
    const key = delivery.recipients[0]?.queue ?? '';
    const { tenantId } = parseQueueKey(key);
    const claimedAt = this.#app.clock.elapsed();
    this.#claims.set(id, {
      ...delivery,
      id,
      site,
      scheduledFor: tenantId,
      claimedAt,
      tries: 0,
      brokenOff: undefined,
      conversation: [],
      prepared: undefined,
    });
    return { id, tenantId, band: bandOf(key) };
  }

  /** Makes claimed mail due again. A stop does not wait for a write that fails. */
  #release(unsent: readonly Claim[]): Promise<number> {
    for (const { id } of unsent) this.#claims.delete(id);
    return releaseClaims(this.#app, unsent, { isPatient: !this.#isStopped });
  }

  #wakeQueuesOf(claims: readonly Claim[]): void {
    const queues = new Set(claims.flatMap(({ recipients }) => recipients.map(({ queue }) => queue)));
    if (!this.#isStopped) this.#app.wakeups.notify('queue', [...queues]);
  }

  async #open({ session, site, messagesPerConnection }: Extract<Decision, { kind: 'open' }>): Promise<void> {
    try {
      // Queues whose routes are found at the same moment are then claimed together.
      await new Promise((resolve) => setImmediate(resolve));
      const running = startSession(this.#app, this.#contextOf(session, site, messagesPerConnection));
      this.#sessions.set(session, running);
      await running.ended;
    } catch (error) {
      this.#app.log.error({ err: error, site }, 'a session failed');
    } finally {
      this.#sessions.delete(session);
      this.#tell({ kind: 'ended', session });
    }
  }

  #contextOf(session: number, site: string, messagesPerConnection: number): SessionContext {
    const route = this.#routes.get(site);
    if (!route) throw new Error(`${site} has no route`);
    const routes = this.#routes;
    return {
      get route() {
        return routes.get(site) ?? route;
      },
      addresses: this.#addressesOf(site),
      messagesPerConnection,
      next: (situation) =>
        new Promise((resolve) => {
          if (this.#isAbandoned) return resolve(undefined);
          this.#waiting.set(session, resolve);
          this.#tell({ kind: 'ready', session, situation });
        }),
      startSending: (claim) => this.#startSending(claim),
      putBack: (undecided) => this.#putBack(session, undecided),
      settled: (id) => {
        this.#claims.delete(id);
        this.#sending.delete(id);
        this.#tell({ kind: 'settled', claim: id });
      },
      report: (what) => this.#tell({ session, ...what }),
      isPressed: () => this.#schedule.isPressed(session, this.#app.clock.elapsed()),
      isResting: () => this.#schedule.isResting(session, this.#app.clock.elapsed()),
      isServedByOthers: () => this.#schedule.isServedByOthers(session),
    };
  }

  /** Notes that a claim is about to be sent. Returns false when nothing more may be sent. */
  #startSending(claim: Claim): boolean {
    if (this.#isAbandoned) return false;
    this.#sending.set(claim.id, claim);
    return true;
  }

  /** Takes back some recipients of a claim. They become a claim of their own, the next one of the site. */
  #putBack(session: number, undecided: Claim): void {
    const isBack = new Set(undecided.recipients.map(({ id }) => id));
    const sending = this.#sending.get(undecided.id);
    if (sending) {
      const recipients = sending.recipients.filter(({ id }) => !isBack.has(id));
      this.#sending.set(undecided.id, { ...sending, recipients });
    }
    if (this.#isAbandoned) return;
    const id = ++this.#lastClaimId;
    this.#claims.set(id, { ...undecided, id });
    const band = bandOf(undecided.recipients[0]?.queue ?? '');
    this.#tell({ kind: 'put-back', session, mail: { id, tenantId: undecided.scheduledFor, band } });
  }
}
