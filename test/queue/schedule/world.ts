/**
 * A world for the schedule: queues with messages, sites with peers that accept, refuse or hang, and a virtual clock. It carries out
 * each decision as the dispatcher does, and checks after each that nothing is broken.
 */
import assert from 'node:assert/strict';
import type { Decision, Rest, ScheduleEvent } from '../../../src/queue/schedule/events.ts';
import { MESSAGES_PER_CONNECTION, type SiteLimits } from '../../../src/queue/schedule/limits.ts';
import { Schedule } from '../../../src/queue/schedule/schedule.ts';
import { IndexedHeap } from '../../../src/system/indexed-heap.ts';

/**
 * How the peer of a site behaves. `takes` is the number of connections beyond which it says 421. One that `drops` connects and breaks
 * off in the middle of each message.
 */
export type Peer = { isDead?: boolean; drops?: boolean; takes?: number; messageMs?: number };

export type WorldSite = { limits?: Partial<SiteLimits>; rests?: readonly Rest[]; peer?: Peer };

export type WorldQueue = {
  tenantId: string;
  band?: 'report' | 'transactional' | 'broadcast';
  site: string;
  messages: number;
};

/** Returns a queue of a tenant at a site with this number of messages, by its key. */
export function mail(
  site: string,
  messages: number,
  tenantId = 'ten_1',
  band: WorldQueue['band'] = 'transactional',
): Record<string, WorldQueue> {
  return { [`${band} ${tenantId} ${site}`]: { tenantId, band, site, messages } };
}

const UNLIMITED: SiteLimits = {
  connections: 20,
  connectionsPerMinute: null,
  recipientsPerMinute: null,
  messagesPerConnection: MESSAGES_PER_CONNECTION,
  group: null,
};

type Session = { site: string; isConnected: boolean; messages: number; messagesPerConnection: number };
type Timer = { at: number; position: number; run: () => void };

export class World {
  now = 0;
  readonly schedule: Schedule;
  /** Times at which messages were accepted, by tenant, and what was claimed and refused, by site. */
  readonly accepted: { at: number; tenantId: string; site: string }[] = [];
  readonly claimedAt: { at: number; site: string; messages: number }[] = [];
  readonly refusals: { at: number; site: string }[] = [];
  /** Connections, those that a session opens again among them. */
  readonly connected: { at: number; site: string }[] = [];
  /** Largest number of connections that each site, group and the whole has had. */
  readonly most = new Map<string, number>();
  readonly #capacity: number;
  readonly #sites: Record<string, WorldSite>;
  readonly #queues = new Map<string, WorldQueue>();
  readonly #sessions = new Map<number, Session>();
  readonly #claims = new Map<number, { queue: string; tenantId: string }>();
  readonly #timers = new IndexedHeap<Timer>((one, other) =>
    one.at === other.at ? one.position < other.position : one.at < other.at,
  );
  readonly #events: ScheduleEvent[] = [];
  #lastClaim = 0;
  #lastTimer = 0;
  #isTelling = false;

  constructor(sites: Record<string, WorldSite>, connections = 100) {
    this.#sites = sites;
    this.#capacity = connections;
    this.schedule = new Schedule({ connections });
  }

  /** Adds mail that is due now. */
  add(queues: Record<string, WorldQueue>): void {
    for (const [key, queue] of Object.entries(queues)) {
      const known = this.#queues.get(key);
      if (known) known.messages += queue.messages;
      else this.#queues.set(key, { ...queue });
    }
    const names = Object.entries(queues).map(([key, { tenantId, band = 'transactional' }]) => ({
      key,
      tenantId,
      band,
    }));
    this.tell({ kind: 'due', queues: names, withRetries: new Set() });
  }

  peerOf(site: string): Peer {
    return this.#sites[site]?.peer ?? {};
  }

  setPeer(site: string, peer: Peer): void {
    this.#sites[site] = { ...this.#sites[site], peer };
  }

  /** Changes limits and rests of a site. */
  shape(site: string, { limits = {}, rests = [] }: Pick<WorldSite, 'limits' | 'rests'>): void {
    const known = this.#sites[site];
    this.#sites[site] = { ...known, limits: { ...known?.limits, ...limits }, rests };
    this.tell({ kind: 'shaped', site, limits: this.#limitsOf(site), rests });
  }

  /** Number of open sessions of a site. */
  sessionsOf(site: string): number {
    return [...this.#sessions.values()].filter((session) => session.site === site).length;
  }

  /** Number of messages that are not accepted. */
  get waiting(): number {
    return this.#claims.size + [...this.#queues.values()].reduce((sum, { messages }) => sum + messages, 0);
  }

  get openSessions(): number {
    return this.#sessions.size;
  }

  tell(event: ScheduleEvent): void {
    this.#events.push(event);
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let next = this.#events.shift(); next; next = this.#events.shift())
      for (const decision of this.schedule.handle(next, this.now)) this.#carryOut(decision);
    this.#isTelling = false;
  }

  /** Runs until nothing happens any more, or until a time. */
  run(until = Number.POSITIVE_INFINITY): void {
    for (let steps = 0; steps < 2_000_000; steps++) {
      const timer = this.#timers.first;
      const { wakeAt = Number.POSITIVE_INFINITY } = this.schedule;
      const next = Math.min(timer?.at ?? Number.POSITIVE_INFINITY, wakeAt);
      if (next > until || next === Number.POSITIVE_INFINITY) {
        if (until !== Number.POSITIVE_INFINITY) this.now = until;
        return;
      }
      this.now = Math.max(this.now, next);
      if (timer && timer.at <= wakeAt) {
        this.#timers.delete(timer);
        timer.run();
      } else this.tell({ kind: 'time' });
    }
    assert.fail('the world does not come to rest');
  }

  #after(ms: number, run: () => void): void {
    this.#timers.add({ at: this.now + ms, position: ++this.#lastTimer, run });
  }

  #carryOut(decision: Decision): void {
    switch (decision.kind) {
      case 'route':
        this.#after(1, () => this.#route(decision.queue));
        return;
      case 'claim':
        this.claimedAt.push({
          at: this.now,
          site: decision.site,
          messages: decision.take.reduce((sum, { limit }) => sum + limit, 0),
        });
        this.#after(2, () => this.#claim(decision));
        return;
      case 'open':
        this.#open(decision);
        return;
      case 'send':
        this.#send(decision.session, decision.claim);
        return;
      case 'end':
        this.#after(1, () => {
          assert.ok(this.#sessions.delete(decision.session), 'a session ends once');
          this.tell({ kind: 'ended', session: decision.session });
        });
        return;
      case 'release':
        for (const id of decision.claims) this.#release(id);
        return;
      case 'prepare':
        assert.ok(this.#claims.has(decision.claim), 'only claimed mail is prepared');
        return;
      case 'forget':
        return;
    }
  }

  #limitsOf(site: string): SiteLimits {
    return { ...UNLIMITED, ...this.#sites[site]?.limits };
  }

  #route(queue: string): void {
    const site = this.#queues.get(queue)?.site ?? '';
    const limits = this.#limitsOf(site);
    const to = {
      kind: 'site',
      site,
      pool: 'remote',
      limits,
      routedUntil: this.now + 3_600_000,
      rests: this.#sites[site]?.rests ?? [],
      fullWarmUp: null,
    } as const;
    this.tell({ kind: 'routed', queue, to });
  }

  #claim({ site, take }: Extract<Decision, { kind: 'claim' }>): void {
    const exhausted: string[] = [];
    const mail = take.flatMap(({ queue: key, limit }) => {
      const queue = this.#queues.get(key);
      assert.ok(queue);
      const count = Math.min(limit, queue.messages);
      queue.messages -= count;
      if (count < limit) exhausted.push(key);
      return Array.from({ length: count }, () => {
        const id = ++this.#lastClaim;
        this.#claims.set(id, { queue: key, tenantId: queue.tenantId });
        return { id, tenantId: queue.tenantId, band: queue.band ?? 'transactional' } as const;
      });
    });
    this.tell({ kind: 'claimed', site, mail, recipients: mail.length, exhausted });
  }

  #release(id: number): void {
    const claim = this.#claims.get(id);
    assert.ok(claim, 'only claimed mail is released');
    this.#claims.delete(id);
    const queue = this.#queues.get(claim.queue);
    assert.ok(queue);
    queue.messages++;
    const { tenantId, band = 'transactional' } = queue;
    const queues = [{ key: claim.queue, tenantId, band }];
    this.#after(1, () => this.tell({ kind: 'due', queues, withRetries: new Set() }));
  }

  #open({ session, site, messagesPerConnection }: Extract<Decision, { kind: 'open' }>): void {
    this.#sessions.set(session, { site, isConnected: false, messages: 0, messagesPerConnection });
    this.#countConnections(site);
    this.#ready(session, { isLost: false });
  }

  #countConnections(site: string): void {
    const open = [...this.#sessions.values()];
    const { group, connections } = this.#limitsOf(site);
    const atSite = open.filter((session) => session.site === site).length;
    assert.ok(atSite <= connections, `${atSite} connections to ${site}`);
    assert.ok(open.length <= this.#capacity, `${open.length} connections`);
    this.most.set(site, Math.max(this.most.get(site) ?? 0, atSite));
    if (!group) return;
    const inGroup = open.filter((session) => this.#limitsOf(session.site).group?.name === group.name).length;
    assert.ok(inGroup <= group.connections, `${inGroup} connections to ${group.name}`);
  }

  #ready(id: number, { isLost }: { isLost: boolean }): void {
    const session = this.#sessions.get(id);
    assert.ok(session);
    const { isConnected } = session;
    const situation = { isConnected, isLost, idleMs: isConnected ? 5_000 : 0 };
    this.#after(0, () => this.tell({ kind: 'ready', session: id, situation }));
  }

  #send(id: number, claim: number): void {
    const session = this.#sessions.get(id);
    assert.ok(session, 'mail goes to an open session');
    assert.ok(this.#claims.has(claim), 'only claimed mail is sent, and once');
    const { site } = session;
    const { isDead = false, drops = false, takes, messageMs = 10 } = this.peerOf(site);
    const connected = [...this.#sessions.values()].filter(
      (other) => other.site === site && other.isConnected,
    ).length;
    if (isDead) this.#refuse(id, claim, 'unreachable');
    else if (!session.isConnected && takes !== undefined && connected >= takes)
      this.#refuse(id, claim, 'goodbye');
    else if (drops) this.#breakOff(id, claim);
    else {
      if (!session.isConnected) this.connected.push({ at: this.now, site });
      session.isConnected = true;
      this.#after(messageMs, () => this.#accept(id, claim));
    }
  }

  #breakOff(id: number, claim: number): void {
    this.#after(20, () => {
      const found = this.#claims.get(claim);
      assert.ok(found);
      this.tell({ kind: 'broke-off', session: id, text: 'lost connection' });
      this.#claims.delete(claim);
      this.#retryLater(found);
      this.tell({ kind: 'settled', claim });
      this.#ready(id, { isLost: true });
    });
  }

  #refuse(id: number, claim: number, kind: 'unreachable' | 'goodbye'): void {
    const session = this.#sessions.get(id);
    assert.ok(session);
    this.#after(20, () => {
      this.refusals.push({ at: this.now, site: session.site });
      const isServed = this.schedule.isServedByOthers(id);
      this.tell({ kind: 'refused', session: id, refusal: { kind, text: kind } });
      const found = this.#claims.get(claim);
      assert.ok(found);
      this.#claims.delete(claim);
      if (isServed) {
        const back = ++this.#lastClaim;
        this.#claims.set(back, found);
        this.tell({
          kind: 'put-back',
          session: id,
          mail: { id: back, tenantId: found.tenantId, band: 'transactional' },
        });
      } else this.#retryLater(found);
      this.tell({ kind: 'settled', claim });
      this.#ready(id, { isLost: true });
    });
  }

  /** Deferred mail is due again a minute later. */
  #retryLater({ queue: key }: { queue: string }): void {
    const queue = this.#queues.get(key);
    assert.ok(queue);
    this.#after(60_000, () => {
      queue.messages++;
      const { tenantId, band = 'transactional' } = queue;
      this.tell({ kind: 'due', queues: [{ key, tenantId, band }], withRetries: new Set([key]) });
    });
  }

  #accept(id: number, claim: number): void {
    const session = this.#sessions.get(id);
    const found = this.#claims.get(claim);
    assert.ok(session && found);
    this.accepted.push({ at: this.now, tenantId: found.tenantId, site: session.site });
    this.tell({ kind: 'accepted', session: id });
    this.#claims.delete(claim);
    this.tell({ kind: 'settled', claim });
    if (++session.messages % session.messagesPerConnection === 0) session.isConnected = false;
    this.#ready(id, { isLost: false });
  }
}
