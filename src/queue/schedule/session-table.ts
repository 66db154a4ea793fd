/** The sessions of the schedule, and the claims that they have taken. */
import type { ClaimedMail, PoolName } from './events.ts';
import { Groups } from './groups.ts';
import { type NextConnection, Pool } from './pool.ts';
import type { Session, Site } from './site.ts';

/**
 * Maximum number of concurrent sessions that need no connection: with the simulator, and with sites that DNS has ruled out.
 */
const MAX_LOCAL_SESSIONS = 128;

export type SessionOptions = {
  /** Maximum number of open connections to all sites. */
  connections: number;
  /** Number of the first session, and the step to the next one. Schedules with other first numbers give no number twice. */
  sessionIds?: { first: number; step: number };
};

export class SessionTable {
  readonly groups = new Groups();
  readonly #pools: Record<PoolName, Pool>;
  readonly #sessions = new Map<number, Session>();
  /** The session that has taken each claim that is not settled. */
  readonly #taken = new Map<ClaimedMail['id'], Session>();
  readonly #idStep: number;
  #nextId: number;

  constructor({ connections, sessionIds = { first: 1, step: 1 } }: SessionOptions) {
    this.#nextId = sessionIds.first;
    this.#idStep = sessionIds.step;
    this.#pools = {
      remote: new Pool(connections, this.groups),
      local: new Pool(MAX_LOCAL_SESSIONS, this.groups),
    };
  }

  poolOf({ pool }: Site): Pool {
    return this.#pools[pool];
  }

  find(id: number): Session | undefined {
    return this.#sessions.get(id);
  }

  open(next: NextConnection, now: number): Session {
    const { site } = next;
    const pool = this.poolOf(site);
    const group = site.limits.group?.name;
    const session: Session = {
      id: this.#nextId,
      site,
      slot: pool.take(next, now),
      group,
      ready: undefined,
      isNew: true,
      isConnected: false,
      isLast: false,
      isEnding: false,
      isDismissed: false,
      isGivenUp: false,
    };
    this.#nextId += this.#idStep;
    this.#sessions.set(session.id, session);
    site.sessions.add(session);
    pool.sessions.add(session);
    this.groups.opened(group);
    site.countConnection(now);
    return session;
  }

  /** Returns true when more sessions stay open than the limits of the site, or of its group, allow since they have become lower. */
  isExcess(site: Site): boolean {
    return site.hasExcessSessions || this.groups.isOver(site.limits.group);
  }

  /** Notes that the session is told to end. Its connection counts until it has ended. */
  leave(session: Session): void {
    session.isEnding = true;
    this.groups.leaves(session.group);
  }

  close(session: Session): void {
    const { id, site, slot, group, isEnding } = session;
    slot.close();
    this.#sessions.delete(id);
    site.sessions.delete(session);
    this.poolOf(site).sessions.delete(session);
    this.groups.closed(group, isEnding);
  }

  /** Notes that the session has taken a claim, for which it may have to connect again. */
  take(session: Session, { id, tenantId }: ClaimedMail, now: number): void {
    if (session.ready && !session.ready.isConnected && !session.isNew) session.site.countConnection(now);
    session.ready = undefined;
    session.isNew = false;
    session.slot.assign(tenantId, session.site.isProven(now));
    session.site.unsettled++;
    this.#taken.set(id, session);
  }

  /** Notes that a claim is settled. Returns the session that has taken it. */
  settle(claim: ClaimedMail['id']): Session | undefined {
    const session = this.#taken.get(claim);
    if (!session) return undefined;
    this.#taken.delete(claim);
    session.site.unsettled--;
    session.slot.settled();
    return session;
  }
}
