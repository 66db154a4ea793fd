/**
 * The dispatcher: finds the lanes in which mail is due, learns where each leads, and opens conversations with those
 * places, the least served first, within one limit for all. It holds no mail itself; the database is the queue.
 */
import { LRUCache } from 'lru-cache';
import type { Timer } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';
import type { RunningWork } from '../system/worker.ts';
import { converse } from './conversation.ts';
import type { DeliveryApp } from './deliver.ts';
import { InTurn } from './in-turn.ts';
import { Lane } from './lane.ts';
import { prepareMessage } from './prepare.ts';
import { releaseUnsent } from './release.ts';
import { chooseRoute, type Route } from './route.ts';
import { Site, type SiteEvents } from './site.ts';
import { findNextDue, listDueInLane, listDueLanes } from './store.ts';

/** Mail may be committed this much later than it was dated: an attachment is fetched in up to 10 s (api.md 1.2). */
const SCAN_OVERLAP_MS = 15_000;
/** Even without a notice; and from the very beginning, for what an overlap cannot catch, such as a clock set back. */
const FULL_SCAN_EVERY_MS = 30_000;
const PAUSE_AFTER_ERROR_MS = 1_000;
/** Places remembered without mail for them: what was learnt of their pace and their TLS. */
const MOST_SITES = 10_000;
/** Domains looked up at the same time, as many as questions are asked (system/dns/ask.ts): who waits there is soon given
 * up, and the mail deferred. */
const MOST_LOOKUPS = 128;
/** Places looked at to find the least served. */
const MOST_COMPARED = 64;
/** A route holds at least this long, whatever DNS says of it, and a verdict without hosts exactly. */
const LEAST_ROUTE_MS = 30_000;

export class Dispatcher implements RunningWork {
  readonly #app: DeliveryApp;
  readonly #mostConnections: number;
  readonly #lanes = new Map<string, { lane: Lane; site: Site | undefined }>();
  /** Those with mail or a conversation. */
  readonly #sites = new Map<string, Site>();
  readonly #remembered = new LRUCache<string, Site>({ max: MOST_SITES });
  /** Those that want another conversation, the longest waiting first. */
  readonly #hungry = new Set<Site>();
  readonly #conversations = new Map<Promise<void>, Site>();
  readonly #lookups = new InTurn<Lane>(MOST_LOOKUPS, (lane) => this.#lead(lane));
  #silence: () => void = () => {};
  #timer: Timer | undefined;
  #scanning: Promise<void> | undefined;
  #scanAgain = false;
  #scannedUntil = 0;
  #fullScanAt = 0;
  #stopped = false;

  constructor(app: DeliveryApp) {
    this.#app = app;
    this.#mostConnections = app.config.delivery.connections;
  }

  start(): void {
    this.#silence = this.#app.notices.listen('queue', () => this.#wake());
    this.#wake();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    this.#silence();
    this.#timer?.cancel();
    const closed = [...this.#sites.values()].map((site) => site.close());
    const settled = this.#settled(closed);
    await Promise.race([settled, new Promise<void>((resolve) => this.#app.clock.after(graceMs, resolve))]);
    if (this.#conversations.size > 0) await this.#release();
  }

  /** What was claimed and is not on the wire is for the next start (engine.md 4, crash matrix). */
  async #release(): Promise<void> {
    const { db, clock, epoch, log } = this.#app;
    const sites = [...this.#sites.values()];
    for (const site of sites) site.abandon();
    const sending = sites.flatMap((site) =>
      [...site.sending].flatMap(({ recipients }) => recipients.map(({ id }) => id)),
    );
    try {
      const released = await db.commit(releaseUnsent, { now: clock.now(), epoch, sending });
      if (released > 0) log.info({ released }, 'mail was put back unsent');
    } catch (error) {
      log.error({ err: error }, 'mail could not be put back, and is taken for in doubt');
    }
  }

  async #settled(closed: readonly Promise<void>[]): Promise<void> {
    await this.#scanning;
    await Promise.all(closed);
    while (this.#conversations.size > 0) await Promise.all(this.#conversations.keys());
  }

  #wake(): void {
    this.#scanAgain = true;
    this.#scanning ??= this.#scan().finally(() => {
      this.#scanning = undefined;
      // Woken between its last look and here.
      if (this.#scanAgain && !this.#stopped) this.#wake();
    });
  }

  async #scan(): Promise<void> {
    while (this.#scanAgain && !this.#stopped) {
      this.#scanAgain = false;
      this.#timer?.cancel();
      try {
        await this.#findLanes();
        await this.#sleepUntilNextDue();
      } catch (error) {
        this.#app.log.error({ err: error }, 'due mail could not be found');
        this.#wakeAfter(PAUSE_AFTER_ERROR_MS);
      }
    }
  }

  async #findLanes(): Promise<void> {
    const until = this.#app.clock.now();
    const elapsed = this.#app.clock.elapsed();
    const isFull = elapsed >= this.#fullScanAt;
    const after = isFull ? -1 : Math.min(this.#scannedUntil, until) - SCAN_OVERLAP_MS;
    const due = await this.#app.db.query(listDueLanes, { after, until });
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
    const active = this.#lanes.get(key);
    if (active) {
      active.lane.notify();
      active.site?.wake();
      return;
    }
    const { db, clock } = this.#app;
    const lane = new Lane(key, (name, limit, except) =>
      listDueInLane(db.read, { lane: name, now: clock.now(), limit, except }),
    );
    this.#lanes.set(key, { lane, site: undefined });
    this.#lookups.add(lane);
  }

  /** Finds out where the lane leads, and lets it wait there. */
  async #lead(lane: Lane): Promise<void> {
    if (this.#stopped) return;
    const route = await this.#routeOf(lane);
    if (this.#stopped) return;
    const ttlMs = route.kind === 'hosts' ? Math.max(route.ttlMs, LEAST_ROUTE_MS) : LEAST_ROUTE_MS;
    lane.routedUntil = this.#app.clock.elapsed() + ttlMs;
    const site = this.#siteOf(route);
    this.#lanes.set(lane.key, { lane, site });
    site.add(lane);
  }

  async #routeOf(lane: Lane): Promise<Route> {
    const { domain } = lane.name;
    try {
      return await chooseRoute(this.#app, lane.name);
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
      onDone: (lane) => this.#lanes.delete(lane.key),
      onStale: (lane) => this.#lookups.addFirst(lane),
      onChange: (site) => {
        this.#serve(site);
        this.#forgetIfEmpty(site);
      },
    };
    return new Site(this.#app, {
      route,
      mostConnections: this.#app.config.delivery.connectionsPerSite,
      prepare: ({ message }) => prepareMessage(this.#app, message),
      events,
    });
  }

  #serve(site: Site): void {
    if (!site.wantsConversation) return;
    this.#hungry.add(site);
    this.#openConversations();
  }

  #openConversations(): void {
    for (;;) {
      const site = this.#leastServed();
      if (!site) return;
      if (this.#conversations.size >= this.#mostConnections) {
        // Its end comes back here.
        this.#dismissIdle();
        return;
      }
      this.#open(site);
    }
  }

  /** Among those that have waited longest. */
  #leastServed(): Site | undefined {
    let best: Site | undefined;
    let compared = 0;
    for (const site of this.#hungry) {
      if (!site.wantsConversation) {
        this.#hungry.delete(site);
        continue;
      }
      if (!best || site.conversations < best.conversations) best = site;
      if (++compared === MOST_COMPARED) break;
    }
    return best;
  }

  #open(site: Site): void {
    // Should it want one more, the others come first.
    this.#hungry.delete(site);
    this.#hungry.add(site);
    site.conversations++;
    const done = converse(this.#app, site, () => this.#mayGoOn(site))
      .catch((error) => this.#app.log.error({ err: error, site: site.key }, 'a conversation failed'))
      .finally(() => {
        site.conversations--;
        this.#conversations.delete(done);
        if (site.wantsConversation) this.#hungry.add(site);
        this.#openConversations();
        this.#forgetIfEmpty(site);
      });
    this.#conversations.set(done, site);
  }

  /** Where others wait for a connection, a place with more than its share of them gives one up after a delivery. */
  #mayGoOn(site: Site): boolean {
    if (this.#conversations.size < this.#mostConnections) return true;
    const othersWait = this.#hungry.size > (this.#hungry.has(site) ? 1 : 0);
    if (!othersWait) return true;
    const share = Math.max(1, Math.floor(this.#mostConnections / this.#sites.size));
    return site.conversations <= share;
  }

  #dismissIdle(): void {
    for (const site of this.#conversations.values()) if (site.dismissIdle()) return;
  }

  #forgetIfEmpty(site: Site): void {
    if (!site.isEmpty) return;
    this.#hungry.delete(site);
    this.#sites.delete(site.key);
    if (site.route.kind === 'hosts') this.#remembered.set(site.key, site);
  }
}
