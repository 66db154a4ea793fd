/**
 * Decides which queue is served next. It is told what is known about queues and which runs have begun and ended, and does no
 * I/O. Slots go to the tenants that hold the fewest, and within a tenant to the queues that hold the fewest. No tenant takes
 * the last slots (system/shares.ts). A queue whose limits are reached waits without delaying others, and costs nothing
 * meanwhile.
 */
import { Shares } from '../system/shares.ts';
import type { Limit } from './kind.ts';
import type { WaitingQueue } from './store.ts';

type TenantId = WaitingQueue['tenantId'];

/** Describes a queue. `dueAt` is when it can be served, undefined when none of its tasks waits. */
type KnownQueue = Pick<WaitingQueue, 'queueKey' | 'tenantId'> & {
  dueAt: number | undefined;
  limits: readonly Limit[];
};

/** The slot of one run. */
export type Slot = { queueKey: string; keys: readonly string[] };

type Tenant = { id: TenantId; ready: FewestFirst<Queue>; queues: number };
type Queue = {
  name: string;
  tenant: Tenant;
  dueAt: number | undefined;
  limits: readonly Limit[];
  running: number;
  /** The collection that the queue waits in. */
  place: { delete(queue: Queue): unknown } | undefined;
};

export class Order {
  readonly #shares: Shares<TenantId>;
  readonly #queues = new Map<string, Queue>();
  readonly #tenants = new Map<TenantId, Tenant>();
  /** Tenants with due queues. */
  readonly #ready = new FewestFirst<Tenant>();
  /** Queues that are due later, and a time at which the first of them may be. */
  readonly #later = new Set<Queue>();
  #laterAt = Number.POSITIVE_INFINITY;
  /** Due queues by the key of a limit that they have reached. */
  readonly #blocked = new Map<string, Set<Queue>>();
  /** Number of runs by key. */
  readonly #running = new Map<string, number>();

  constructor(total: number, perFree: number) {
    this.#shares = new Shares(total, { perFree });
  }

  /** Time at which a queue falls due next, in Unix milliseconds. */
  get nextDueAt(): number | undefined {
    return Number.isFinite(this.#laterAt) ? this.#laterAt : undefined;
  }

  /** Returns the number of queues of a tenant that are known. */
  countOf(tenantId: TenantId): number {
    return this.#tenants.get(tenantId)?.queues ?? 0;
  }

  /** Returns true for a queue that is known. */
  has(queue: string): boolean {
    return this.#queues.has(queue);
  }

  /** Takes note of a queue. */
  set({ queueKey: name, tenantId, dueAt, limits }: KnownQueue, now: number): void {
    if (dueAt === undefined && !this.#queues.has(name)) return;
    const queue = this.#queues.get(name) ?? this.#add(name, tenantId);
    const isReady = dueAt !== undefined && dueAt <= now;
    const left = queue.limits.filter((limit) => !(isReady && isAmong(limits, limit)));
    queue.dueAt = dueAt;
    queue.limits = limits;
    if (isReady) this.#makeReady(queue);
    else if (dueAt === undefined) this.#drop(queue);
    else {
      this.#move(queue, this.#later);
      this.#later.add(queue);
      this.#laterAt = Math.min(this.#laterAt, dueAt);
    }
    // The queue may have been made ready for a free place that it no longer takes.
    this.#unblock(left.map(({ key }) => key));
  }

  /** Takes the next slot. Returns undefined when no due queue may have one. */
  take(now: number): Slot | undefined {
    if (now >= this.#laterAt) this.#findDue(now);
    for (let tenant = this.#ready.first(); tenant; tenant = this.#ready.first()) {
      if (!this.#shares.mayTake(tenant.id)) return undefined;
      const queue = tenant.ready.first();
      const full = queue?.limits.find((limit) => this.#isReached(limit));
      if (!queue) this.#ready.delete(tenant);
      else if (full) this.#block(queue, full.key);
      else return this.#start(queue);
    }
    return undefined;
  }

  /** Gives a slot back. */
  end({ queueKey: name, keys }: Slot): void {
    for (const key of keys) this.#count(key, -1);
    const queue = this.#queues.get(name);
    if (!queue) return;
    queue.running -= 1;
    this.#shares.release(queue.tenant.id);
    if (queue.dueAt === undefined) this.#drop(queue);
    this.#arrange(queue);
    this.#unblock(keys);
  }

  #add(name: string, tenantId: TenantId): Queue {
    const tenant = this.#tenants.get(tenantId) ?? { id: tenantId, ready: new FewestFirst(), queues: 0 };
    this.#tenants.set(tenantId, tenant);
    tenant.queues += 1;
    const queue: Queue = { name, tenant, dueAt: undefined, limits: [], running: 0, place: undefined };
    this.#queues.set(name, queue);
    return queue;
  }

  /** Forgets a queue without waiting tasks, unless one of its tasks runs. */
  #drop(queue: Queue): void {
    this.#move(queue, undefined);
    if (queue.running > 0 || !this.#queues.delete(queue.name)) return;
    queue.tenant.queues -= 1;
    if (queue.tenant.queues === 0) this.#tenants.delete(queue.tenant.id);
  }

  #start(queue: Queue): Slot {
    const keys = queue.limits.map(({ key }) => key);
    for (const key of keys) this.#count(key, 1);
    queue.running += 1;
    this.#shares.count(queue.tenant.id);
    this.#arrange(queue);
    this.#unblock(keys);
    return { queueKey: queue.name, keys };
  }

  #makeReady(queue: Queue): void {
    this.#move(queue, queue.tenant.ready);
    queue.tenant.ready.put(queue, queue.running);
    this.#ready.put(queue.tenant, this.#shares.heldBy(queue.tenant.id));
  }

  /** Puts a queue that is ready, and its tenant, where their numbers of runs now belong. */
  #arrange(queue: Queue): void {
    const { tenant } = queue;
    if (queue.place === tenant.ready) tenant.ready.put(queue, queue.running);
    if (this.#ready.has(tenant)) this.#ready.put(tenant, this.#shares.heldBy(tenant.id));
  }

  #block(queue: Queue, key: string): void {
    const blocked = this.#blocked.get(key) ?? new Set();
    this.#blocked.set(key, blocked);
    this.#move(queue, blocked);
    blocked.add(queue);
    this.#unblock(queue.limits.map((limit) => limit.key).filter((other) => other !== key));
  }

  /** Makes a queue ready again for each of the keys that has a free place. It passes on what it does not take. */
  #unblock(keys: readonly string[]): void {
    for (const key of keys) {
      const blocked = this.#blocked.get(key);
      const [next] = blocked ?? [];
      if (!next) this.#blocked.delete(key);
      else if (!next.limits.some((limit) => limit.key === key && this.#isReached(limit)))
        this.#makeReady(next);
    }
  }

  #findDue(now: number): void {
    this.#laterAt = Number.POSITIVE_INFINITY;
    for (const queue of this.#later) {
      const { dueAt = now } = queue;
      if (dueAt <= now) this.#makeReady(queue);
      else this.#laterAt = Math.min(this.#laterAt, dueAt);
    }
  }

  #move(queue: Queue, place: Queue['place']): void {
    if (queue.place !== place) queue.place?.delete(queue);
    queue.place = place;
  }

  #isReached({ key, max }: Limit): boolean {
    return (this.#running.get(key) ?? 0) >= max;
  }

  #count(key: string, change: 1 | -1): void {
    const count = (this.#running.get(key) ?? 0) + change;
    if (count === 0) this.#running.delete(key);
    else this.#running.set(key, count);
  }
}

function isAmong(limits: readonly Limit[], { key, max }: Limit): boolean {
  return limits.some((limit) => limit.key === key && limit.max === max);
}

/** Items in the order of how many slots they hold, and among equals as they came. */
class FewestFirst<Item> {
  readonly #levels: Set<Item>[] = [];
  readonly #levelOf = new Map<Item, number>();

  has(item: Item): boolean {
    return this.#levelOf.has(item);
  }

  put(item: Item, held: number): void {
    if (this.#levelOf.get(item) === held) return;
    this.delete(item);
    while (this.#levels.length <= held) this.#levels.push(new Set());
    this.#levels[held]?.add(item);
    this.#levelOf.set(item, held);
  }

  delete(item: Item): void {
    const level = this.#levelOf.get(item);
    if (level === undefined) return;
    this.#levels[level]?.delete(item);
    this.#levelOf.delete(item);
  }

  first(): Item | undefined {
    return this.#levels
      .find(({ size }) => size > 0)
      ?.values()
      .next().value;
  }
}
