/**
 * The dispatcher finds the delivery queues in which mail is due, looks up the site of each, and requests sessions
 * with those sites (sessions/session-pool.ts). It holds no mail itself; the database is the queue. The code that accepts mail
 * names the queues of that mail; a scan finds all other due mail.
 */

import type { Timer } from '../system/clock.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { MAX_QUESTIONS } from '../system/dns/ask.ts';
import { errorMessage } from '../system/errors.ts';
import { createLru } from '../system/lru.ts';
import type { RunningWork } from '../system/worker.ts';
import type { DeliveryApp } from './delivery-app.ts';
import { findNextDue, listDueInQueue, listDueQueues } from './due-store.ts';
import { type PoolEvents, SessionPool } from './sessions/session-pool.ts';
import { DeliveryQueue } from './site/delivery-queue.ts';
import { chooseRoute, type Route } from './site/route.ts';
import { Site, type SiteEvents } from './site/site.ts';
import { Slots } from './site/slots.ts';
import { releaseUnsent } from './state/recover.ts';

/**
 * Overlap of two scans. Mail may be committed this much later than its date, because fetching an attachment takes up to
 * 10 s.
 */
const SCAN_OVERLAP_MS = 15_000;
/**
 * Time between two scans of all due mail, however old. A full scan finds mail that the overlap misses, for example
 * after the clock was set back.
 */
const FULL_SCAN_EVERY_MS = 30_000;
const PAUSE_AFTER_ERROR_MS = 1_000;
/** Maximum number of sites without mail that are remembered for their pace and TLS support. */
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
/**
 * Maximum number of concurrent sessions that need no connection: with the simulator, and with sites that DNS has ruled
 * out.
 */
const MAX_LOCAL_SESSIONS = 128;
/**
 * Minimum lifetime of a route to hosts, whatever the TTL of its DNS records. It is also the lifetime of a route
 * without hosts.
 */
const MIN_ROUTE_MS = 30_000;

export class Dispatcher implements RunningWork {
  readonly #app: DeliveryApp;
  readonly #remoteSessions: SessionPool;
  readonly #localSessions: SessionPool;
  readonly #queues = new Map<string, { queue: DeliveryQueue; site: Site | undefined }>();
  /** Sites with mail or a session. */
  readonly #sites = new Map<string, Site>();
  readonly #remembered = createLru<string, Site>(MAX_SITES);
  readonly #lookups = new ConcurrencyLimiter({ maxRunning: MAX_LOOKUPS, perFree: LOOKUPS_PER_FREE });
  readonly #unsubscribe: (() => void)[] = [];
  /** Number of changes of the operator's routes so far. A lookup during which it grows has to be repeated. */
  #routeChanges = 0;
  #timer: Timer | undefined;
  #scanning: Promise<void> | undefined;
  #scanAgain = false;
  #scannedUntil = 0;
  #fullScanAt = 0;
  #stopped = false;

  constructor(app: DeliveryApp) {
    this.#app = app;
    const events: PoolEvents = {
      onEnd: (site) => this.#forgetIfEmpty(site),
      countSites: () => this.#sites.size,
    };
    this.#remoteSessions = new SessionPool(app, new Slots(app.config.delivery.connections), events);
    this.#localSessions = new SessionPool(app, new Slots(MAX_LOCAL_SESSIONS), events);
  }

  start(): void {
    const { wakeups } = this.#app;
    this.#unsubscribe.push(
      wakeups.listen('queue', (queues) => {
        if (queues) for (const key of queues) this.#activate(key);
        else this.#wake();
      }),
      wakeups.listen('outbound-routes', () => this.#expireRoutes()),
    );
    this.#wake();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#timer?.cancel();
    const closed = [...this.#sites.values()].map((site) => site.close());
    const settled = this.#settled(closed);
    await Promise.race([settled, new Promise<void>((resolve) => this.#app.clock.after(graceMs, resolve))]);
    if (this.#running.length > 0) await this.#release();
  }

  /** Releases the mail that is claimed and not being sent, so that the next start sends it. */
  async #release(): Promise<void> {
    const { db, clock, runId, log } = this.#app;
    const sites = [...this.#sites.values()];
    for (const site of sites) site.abandon();
    const sending = sites.flatMap((site) => site.sendingRecipientIds);
    try {
      const released = await db.commit(releaseUnsent, { now: clock.now(), runId, sending });
      if (released > 0) log.info({ released }, 'mail was put back unsent');
    } catch (error) {
      log.error({ err: error }, 'unsent mail could not be put back; it counts as interrupted');
    }
  }

  async #settled(closed: readonly Promise<void>[]): Promise<void> {
    await this.#scanning;
    await Promise.all(closed);
    while (this.#running.length > 0) await Promise.all(this.#running);
  }

  get #running(): readonly Promise<void>[] {
    return [...this.#remoteSessions.running, ...this.#localSessions.running];
  }

  #wake(): void {
    if (this.#app.egress.isHeld) return;
    this.#scanAgain = true;
    this.#scanning ??= this.#scan().finally(() => {
      this.#scanning = undefined;
      // A wake-up may have come between the last check of the scan and this line.
      if (this.#scanAgain && !this.#stopped) this.#wake();
    });
  }

  async #scan(): Promise<void> {
    while (this.#scanAgain && !this.#stopped) {
      this.#scanAgain = false;
      this.#timer?.cancel();
      try {
        await this.#findQueues();
        await this.#sleepUntilNextDue();
      } catch (error) {
        this.#app.log.error({ err: error }, 'due mail could not be found');
        this.#wakeAfter(PAUSE_AFTER_ERROR_MS);
      }
    }
  }

  async #findQueues(): Promise<void> {
    const until = this.#app.clock.now();
    const elapsed = this.#app.clock.elapsed();
    const isFull = elapsed >= this.#fullScanAt;
    const after = isFull ? -1 : Math.min(this.#scannedUntil, until) - SCAN_OVERLAP_MS;
    const due = await this.#app.db.query(listDueQueues, { after, until });
    this.#scannedUntil = until;
    if (isFull) this.#fullScanAt = elapsed + FULL_SCAN_EVERY_MS;
    for (const key of due) this.#activate(key);
  }

  async #sleepUntilNextDue(): Promise<void> {
    const next = await findNextDue(this.#app.db.read, this.#scannedUntil);
    const untilNextMs = next === undefined ? FULL_SCAN_EVERY_MS : next - this.#app.clock.now();
    if (untilNextMs <= 0) this.#scanAgain = true;
    else this.#wakeAfter(Math.min(untilNextMs, FULL_SCAN_EVERY_MS));
  }

  #wakeAfter(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#app.clock.after(delayMs, () => this.#wake());
  }

  #activate(key: string): void {
    if (this.#app.egress.isHeld) return;
    const active = this.#queues.get(key);
    if (active) {
      active.queue.notify();
      active.site?.wake();
      return;
    }
    const { db, clock } = this.#app;
    const queue = new DeliveryQueue(key, (name, limit, except) =>
      listDueInQueue(db.read, { queue: name, now: clock.now(), limit, except }),
    );
    this.#queues.set(key, { queue, site: undefined });
    void this.#lookups.run(() => this.#routeQueue(queue), { owner: queue.name.tenantId });
  }

  /** Looks up the route of the queue and adds the queue to its site. */
  async #routeQueue(queue: DeliveryQueue): Promise<void> {
    if (this.#stopped) return;
    const changes = this.#routeChanges;
    const route = await this.#routeOf(queue);
    if (this.#stopped) return;
    const ttlMs = route.kind === 'hosts' ? Math.max(route.ttlMs, MIN_ROUTE_MS) : MIN_ROUTE_MS;
    queue.routedUntil = changes === this.#routeChanges ? this.#app.clock.elapsed() + ttlMs : 0;
    const site = this.#siteOf(route);
    this.#queues.set(queue.key, { queue, site });
    site.add(queue);
  }

  /** Has the route of each queue looked up again before more of its mail is claimed. */
  #expireRoutes(): void {
    this.#routeChanges++;
    for (const { queue, site } of this.#queues.values()) {
      queue.routedUntil = 0;
      site?.wake();
    }
  }

  async #routeOf(queue: DeliveryQueue): Promise<Route> {
    const { domain } = queue.name;
    const { clock, monitor } = this.#app;
    const begunAt = clock.elapsed();
    try {
      const route = await chooseRoute(this.#app, queue.name);
      monitor.observePart('route', clock.elapsed() - begunAt);
      return route;
    } catch (error) {
      this.#app.log.error({ err: error, domain }, 'a domain could not be looked up');
      const plan = { kind: 'unresolved', reason: errorMessage(error) } as const;
      return { kind: 'dead-end', site: `dead end ${domain}`, domain, plan };
    }
  }

  #siteOf(route: Route): Site {
    const site = this.#sites.get(route.site) ?? this.#remembered.get(route.site) ?? this.#newSite(route);
    this.#sites.set(site.key, site);
    site.route = route;
    if (route.kind === 'hosts') {
      site.addresses.keepOnly(new Set(route.hosts.flatMap((host) => host.addresses)));
    }
    return site;
  }

  #newSite(route: Route): Site {
    const events: SiteEvents = {
      onDone: (queue) => this.#queues.delete(queue.key),
      onStale: (queue) => {
        const options = { owner: queue.name.tenantId, isFirst: true };
        void this.#lookups.run(() => this.#routeQueue(queue), options);
      },
      onChange: (site) => {
        this.#sessionsOf(site).request(site);
        this.#forgetIfEmpty(site);
      },
      isHeldBack: (tenantId, site) => this.#sessionsOf(site).isHeldBack(tenantId, site),
    };
    const relay = route.kind === 'hosts' ? route.relay : null;
    return new Site(this.#app, {
      route,
      maxConnections: relay?.connections ?? this.#app.config.delivery.connectionsPerSite,
      recipientsPerMinute: relay?.recipientsPerMinute ?? null,
      events,
    });
  }

  #sessionsOf({ route }: Site): SessionPool {
    return route.kind === 'hosts' ? this.#remoteSessions : this.#localSessions;
  }

  #forgetIfEmpty(site: Site): void {
    if (!site.isEmpty) return;
    this.#sites.delete(site.key);
    if (site.route.kind === 'hosts') this.#remembered.set(site.key, site);
  }
}
