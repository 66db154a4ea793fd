/**
 * Opens sessions with the sites that have mail, within one limit for all sites. Tenants are served round-robin, and the
 * least served site of a tenant comes first. `slots.ts` decides how many sessions each tenant may have.
 */

import { RoundRobin } from '../../system/round-robin.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import type { Site } from '../site/site.ts';
import type { Slot, Slots } from '../site/slots.ts';
import { runSession, type SessionPermit } from './session.ts';

/** Maximum number of sites of a tenant that are compared to find the least served one. */
const MAX_COMPARED = 64;

export type PoolEvents = {
  /** Is called when a session with the site has ended. */
  onEnd(site: Site): void;
  /** Number of sites with mail or a session. */
  countSites(): number;
};

type Candidate = { tenantId: string; site: Site };

export class SessionPool {
  readonly #app: DeliveryApp;
  readonly #slots: Slots;
  readonly #events: PoolEvents;
  /**
   * Sites that want another session, by tenant. A site that no longer wants one is removed when the round-robin
   * reaches it.
   */
  readonly #proven = new RoundRobin<Site>();
  readonly #unproven = new RoundRobin<Site>();
  readonly #running = new Map<Promise<void>, Site>();
  #open = 0;
  #provenFirst = false;

  constructor(app: DeliveryApp, slots: Slots, events: PoolEvents) {
    this.#app = app;
    this.#slots = slots;
    this.#events = events;
  }

  /** Promises that settle when the open sessions end. */
  get running(): readonly Promise<void>[] {
    return [...this.#running.keys()];
  }

  /** Opens another session with the site, if the site wants one, as soon as a tenant with mail there may have it. */
  request(site: Site): void {
    if (!site.wantsSession) return;
    this.#enqueue(site);
    this.#openWaiting();
  }

  /** Returns true when the tenant has so many sessions that no more of its mail is claimed at the site. */
  isHeldBack(tenantId: string, site: Site): boolean {
    return this.#slots.isOver(tenantId, site.isProven);
  }

  #enqueue(site: Site): void {
    const { isProven } = site;
    for (const tenantId of site.tenants()) {
      this.#waiting(!isProven).remove(tenantId, site);
      this.#waiting(isProven).add(tenantId, site);
    }
  }

  #openWaiting(): void {
    for (;;) {
      const next = this.#next();
      if (!next) return;
      if (this.#open >= this.#slots.capacity) {
        // The end of the dismissed session calls this method again.
        this.#dismissIdle();
        return;
      }
      this.#start(next);
    }
  }

  /** Returns the session to open next. Proven and unproven sites alternate. */
  #next(except?: Site): Candidate | undefined {
    if (this.#provenFirst) return this.#nextOf(true, except) ?? this.#nextOf(false, except);
    return this.#nextOf(false, except) ?? this.#nextOf(true, except);
  }

  #nextOf(isProven: boolean, except?: Site): Candidate | undefined {
    for (const tenantId of this.#waiting(isProven).owners()) {
      if (!this.#slots.mayOpen(tenantId, isProven)) continue;
      const site = this.#leastServed(tenantId, isProven, except);
      if (site) return { tenantId, site };
    }
    return undefined;
  }

  #leastServed(tenantId: string, isProven: boolean, except?: Site): Site | undefined {
    const waiting = this.#waiting(isProven);
    let best: Site | undefined;
    let compared = 0;
    for (const site of waiting.itemsOf(tenantId)) {
      if (!site.wantsSession || !site.hasMailOf(tenantId)) {
        waiting.remove(tenantId, site);
        continue;
      }
      if (site.isProven !== isProven) {
        this.#enqueue(site);
        continue;
      }
      if (site === except) continue;
      if (!best || site.sessions < best.sessions) best = site;
      if (++compared === MAX_COMPARED) break;
    }
    return best;
  }

  #waiting(isProven: boolean): RoundRobin<Site> {
    return isProven ? this.#proven : this.#unproven;
  }

  #hasWaiting(isProven: boolean): boolean {
    for (const tenantId of this.#waiting(isProven).owners())
      if (this.#leastServed(tenantId, isProven)) return true;
    return false;
  }

  #start({ tenantId, site }: Candidate): void {
    this.#provenFirst = !this.#provenFirst;
    this.#dequeue({ tenantId, site });
    this.#waiting(true).moveLast(tenantId);
    this.#waiting(false).moveLast(tenantId);
    const slot = this.#slots.open(tenantId, site.isProven);
    slot.onIdle = () => this.#openWaiting();
    site.sessions++;
    this.#open++;
    if (site.wantsSession) this.#enqueue(site);
    const done = runSession(this.#app, site, this.#permit(site, slot))
      .catch((error) => this.#app.log.error({ err: error, site: site.key }, 'a session failed'))
      .finally(() => {
        site.sessions--;
        this.#open--;
        slot.close();
        this.#running.delete(done);
        this.#dequeue({ tenantId, site });
        if (site.wantsSession) this.#enqueue(site);
        this.#openWaiting();
        this.#events.onEnd(site);
      });
    this.#running.set(done, site);
  }

  /**
   * Removes the site from the queue of the tenant, so that other sites of the tenant come first if it wants one more
   * session.
   */
  #dequeue({ tenantId, site }: Candidate): void {
    this.#waiting(true).remove(tenantId, site);
    this.#waiting(false).remove(tenantId, site);
  }

  #permit(site: Site, slot: Slot): SessionPermit {
    return {
      slot,
      isPressed: () => this.#isPressed(slot),
      shouldContinue: (isConnected) => this.#shouldContinue(site, slot, isConnected),
    };
  }

  /**
   * Returns true when the session is to give up a peer that makes it wait: its tenant has all the connections that it
   * may have to unproven sites, this is one of them, and other mail waits for a connection.
   */
  #isPressed({ charge }: Slot): boolean {
    if (!charge || charge.isProven || this.#slots.mayOpen(charge.tenantId, false)) return false;
    return this.#hasWaiting(true) || this.#hasWaiting(false);
  }

  /**
   * Returns true when the session may take more mail than the site has claimed. If another site could use its
   * connection, two kinds of sessions end: those that would have to connect again, and those of a site with more than
   * its share of all connections.
   */
  #shouldContinue(site: Site, slot: Slot, isConnected: boolean): boolean {
    if (this.#proven.size === 0 && this.#unproven.size === 0) return true;
    if (!slot.without(() => this.#next(site))) return true;
    const part = Math.max(1, Math.floor(this.#slots.capacity / this.#events.countSites()));
    return isConnected && site.sessions <= part;
  }

  #dismissIdle(): void {
    for (const site of this.#running.values()) if (site.dismissIdle()) return;
  }
}
