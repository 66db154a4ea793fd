/**
 * Decides which site gets the next connection, within one limit for all sites. Tenants are served in turn, and the least served
 * site of a tenant comes first. Sites that have accepted mail recently and others alternate. `slots.ts` says how many connections
 * each tenant may have.
 */
import type { Groups } from './groups.ts';
import type { Session, Site } from './site.ts';
import { type Slot, Slots } from './slots.ts';
import { WaitingSites } from './waiting-sites.ts';

/** Maximum number of tenants of which each has a site compared with that of a session. Tenants come in turn. */
const MAX_COMPARED_TENANTS = 8;

/** The next connection: to this site, with a slot that counts for the tenant. */
export type NextConnection = { site: Site; tenantId: string };

export class Pool {
  readonly sessions = new Set<Session>();
  readonly #slots: Slots;
  readonly #groups: Groups;
  readonly #proven: WaitingSites;
  readonly #unproven: WaitingSites;
  #isProvenNext = false;

  constructor(capacity: number, groups: Groups) {
    this.#slots = new Slots(capacity);
    this.#groups = groups;
    this.#proven = new WaitingSites(groups);
    this.#unproven = new WaitingSites(groups);
  }

  get isFull(): boolean {
    return this.sessions.size >= this.#slots.capacity;
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

  /** Returns the connection to open next. */
  next(now: number): NextConnection | undefined {
    const first = this.#isProvenNext;
    return this.#nextOf(first, now) ?? this.#nextOf(!first, now);
  }

  /** Takes a slot for the connection. The site, and its tenant, come last from now on. */
  take({ site, tenantId }: NextConnection, now: number): Slot {
    this.#isProvenNext = !this.#isProvenNext;
    for (const waiting of [this.#proven, this.#unproven]) {
      waiting.remove(tenantId, site);
      waiting.moveLast(tenantId);
    }
    return this.#slots.open({ tenantId, isProven: site.isProven(now) }, site);
  }

  /**
   * Returns true when the tenant has so many connections, most of them to this site, that no more of its mail is claimed here, and
   * sessions come free.
   */
  isHeldBack(tenantId: string, site: Site, now: number): boolean {
    return (
      this.#slots.isOver({ tenantId, isProven: site.isProven(now) }) && this.#slots.hasMostAt(tenantId, site)
    );
  }

  /**
   * Returns true when the session has to give up a peer that makes it wait: its tenant has all the connections that it may have
   * to unproven sites, this is one of them, and other mail waits for a connection.
   */
  isPressed({ slot: { charge } }: Session, now: number): boolean {
    if (!charge || charge.isProven || this.#slots.mayOpen(charge.tenantId, false)) return false;
    return this.#hasWaiting(true, now) || this.#hasWaiting(false, now);
  }

  /**
   * Returns true when another site needs the connection of the session more. That is one with at least two connections fewer; when this
   * session would have to connect again, one with fewer, or any other while the tenant has more than its share. Once a session is needed
   * elsewhere, it stays so until no such site waits.
   */
  isNeededElsewhere(session: Session, now: number): boolean {
    if (this.#proven.isEmpty && this.#unproven.isEmpty) return false;
    const { site, slot, group, isConnected, isLast } = session;
    const { charge } = slot;
    const other = slot.without(() => this.#groups.without(group, () => this.#leastServedBeside(site, now)));
    if (!other) return false;
    if (isConnected && !isLast) return site.sessions.size > other.sessions.size + 1;
    const isOver = charge !== undefined && this.#slots.isOver(charge);
    return isOver || site.sessions.size > other.sessions.size;
  }

  /** Returns a session that waits for mail and counts for nobody. */
  idleSession(): Session | undefined {
    for (const session of this.sessions)
      if (session.ready && !session.isEnding && !session.slot.charge) return session;
    return undefined;
  }

  #nextOf(isProven: boolean, now: number): NextConnection | undefined {
    for (const tenantId of this.#waiting(isProven).tenants()) {
      if (!this.#slots.mayOpen(tenantId, isProven)) continue;
      const site = this.#leastServed(tenantId, { isProven, now });
      if (site) return { tenantId, site };
    }
    return undefined;
  }

  /** Returns the least served of the other sites that could open a connection. */
  #leastServedBeside(except: Site, now: number): Site | undefined {
    let best: Site | undefined;
    for (const isProven of [true, false]) {
      let compared = 0;
      for (const tenantId of this.#waiting(isProven).tenants()) {
        if (best?.sessions.size === 0) return best;
        if (!this.#slots.mayOpen(tenantId, isProven)) continue;
        const site = this.#leastServed(tenantId, { isProven, now, except });
        if (site && (!best || site.sessions.size < best.sessions.size)) best = site;
        if (site && ++compared === MAX_COMPARED_TENANTS) break;
      }
    }
    return best;
  }

  #leastServed(
    tenantId: string,
    { isProven, now, except }: { isProven: boolean; now: number; except?: Site | undefined },
  ): Site | undefined {
    const belongs = (site: Site) => {
      if (site.isProven(now) === isProven) return true;
      this.#waiting(!isProven).add(tenantId, site);
      return false;
    };
    return this.#waiting(isProven).leastServed(tenantId, { now, except, belongs });
  }

  #hasWaiting(isProven: boolean, now: number): boolean {
    for (const tenantId of this.#waiting(isProven).tenants())
      if (this.#leastServed(tenantId, { isProven, now })) return true;
    return false;
  }

  #waiting(isProven: boolean): WaitingSites {
    return isProven ? this.#proven : this.#unproven;
  }
}
