/**
 * Decides which site gets the next connection, within one limit for all sites. Tenants are served in turn, and the least served
 * site of a tenant comes first. Sites that have accepted mail recently and others alternate. `slots.ts` says how many connections
 * each tenant may have.
 */
import { RoundRobin } from '../../system/round-robin.ts';
import type { Session, Site } from './site.ts';
import { type Slot, Slots } from './slots.ts';

/** Maximum number of sites of a tenant that are compared to find the least served one. */
const MAX_COMPARED = 64;

/** The next connection: to this site, with a slot that counts for the tenant. */
export type NextConnection = { site: Site; tenantId: string };

export class Pool {
  readonly sessions = new Set<Session>();
  readonly #slots: Slots;
  /** Returns true when the group of the site may have another connection. */
  readonly #mayGroupOpen: (site: Site) => boolean;
  /** Sites that want another session, by tenant. One that no longer wants any is removed when its turn comes. */
  readonly #proven = new RoundRobin<Site>();
  readonly #unproven = new RoundRobin<Site>();
  #isProvenNext = false;

  constructor(capacity: number, mayGroupOpen: (site: Site) => boolean) {
    this.#slots = new Slots(capacity);
    this.#mayGroupOpen = mayGroupOpen;
  }

  get isFull(): boolean {
    return this.sessions.size >= this.#slots.capacity;
  }

  get capacity(): number {
    return this.#slots.capacity;
  }

  /** Puts a site that wants a session behind others, for each tenant with mail there. */
  enqueue(site: Site, now: number): void {
    if (!site.wantsSession(now)) return;
    const isProven = site.isProven(now);
    for (const tenantId of site.tenants(now)) {
      this.#waiting(!isProven).remove(tenantId, site);
      this.#waiting(isProven).add(tenantId, site);
    }
  }

  /** Returns the connection to open next, without one to `except`. */
  next(now: number, except?: Site): NextConnection | undefined {
    const first = this.#isProvenNext;
    return this.#nextOf(first, now, except) ?? this.#nextOf(!first, now, except);
  }

  /** Returns true when a site waits for a connection that its tenant may have, or may not have at present. */
  hasWaiting(now: number): boolean {
    return this.#hasWaiting(true, now) || this.#hasWaiting(false, now);
  }

  /** Takes a slot for the connection. The site, and its tenant, come last from now on. */
  take({ site, tenantId }: NextConnection, now: number): Slot {
    this.#isProvenNext = !this.#isProvenNext;
    this.dequeue({ site, tenantId });
    this.#proven.moveLast(tenantId);
    this.#unproven.moveLast(tenantId);
    return this.#slots.open(tenantId, site.isProven(now));
  }

  dequeue({ site, tenantId }: NextConnection): void {
    this.#proven.remove(tenantId, site);
    this.#unproven.remove(tenantId, site);
  }

  /** Returns true when the tenant has so many connections that no more of its mail is claimed at the site. */
  isHeldBack(tenantId: string, site: Site, now: number): boolean {
    return this.#slots.isOver(tenantId, site.isProven(now));
  }

  /**
   * Returns true when the session has to give up a peer that makes it wait: its tenant has all the connections that it may have
   * to unproven sites, this is one of them, and other mail waits for a connection.
   */
  isPressed({ slot: { charge } }: Session, now: number): boolean {
    if (!charge || charge.isProven || this.#slots.mayOpen(charge.tenantId, false)) return false;
    return this.hasWaiting(now);
  }

  /**
   * Returns true when others need the connection of the session more: it would have to connect again, or its site has more than
   * its share of all connections, and another site could use it.
   */
  isNeededElsewhere({ slot, site }: Session, { isConnected, sites, now }: Need): boolean {
    if (this.#proven.size === 0 && this.#unproven.size === 0) return false;
    if (!slot.without(() => this.next(now, site))) return false;
    const share = Math.max(1, Math.floor(this.#slots.capacity / sites));
    return !isConnected || site.sessions.size > share;
  }

  /** Returns a session that waits for mail and counts for nobody. */
  idleSession(): Session | undefined {
    for (const session of this.sessions)
      if (session.ready && !session.isEnding && !session.slot.charge) return session;
    return undefined;
  }

  #nextOf(isProven: boolean, now: number, except?: Site): NextConnection | undefined {
    for (const tenantId of this.#waiting(isProven).owners()) {
      if (!this.#slots.mayOpen(tenantId, isProven)) continue;
      const site = this.#leastServed(tenantId, { isProven, now, except });
      if (site) return { tenantId, site };
    }
    return undefined;
  }

  #leastServed(
    tenantId: string,
    { isProven, now, except }: { isProven: boolean; now: number; except?: Site | undefined },
  ): Site | undefined {
    const waiting = this.#waiting(isProven);
    let best: Site | undefined;
    let compared = 0;
    for (const site of waiting.itemsOf(tenantId)) {
      if (!site.wantsSession(now) || !site.hasMailOf(tenantId, now)) {
        waiting.remove(tenantId, site);
        continue;
      }
      if (site.isProven(now) !== isProven) {
        this.enqueue(site, now);
        continue;
      }
      if (site === except || !this.#mayGroupOpen(site)) continue;
      if (!best || site.sessions.size < best.sessions.size) best = site;
      if (++compared === MAX_COMPARED) break;
    }
    return best;
  }

  #waiting(isProven: boolean): RoundRobin<Site> {
    return isProven ? this.#proven : this.#unproven;
  }

  #hasWaiting(isProven: boolean, now: number): boolean {
    for (const tenantId of this.#waiting(isProven).owners())
      if (this.#leastServed(tenantId, { isProven, now })) return true;
    return false;
  }
}

type Need = {
  isConnected: boolean;
  /** Number of sites with mail or a session. */
  sites: number;
  now: number;
};
