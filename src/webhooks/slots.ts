/**
 * Decides which endpoints are posted to next. The number of concurrent posts is bounded, and a receiver that never
 * answers keeps each for 15 seconds. Therefore slots go to the tenants that hold the fewest, and within a tenant to the
 * endpoints that hold the fewest. No tenant takes the last slots (`system/shares.ts`), an endpoint whose last post
 * failed has one slot, and all such endpoints together never take the last quarter. However many receivers are dead, of
 * one tenant or of many, the others are served.
 */
import { mayTakeAnother, Shares } from '../system/shares.ts';
import type { EndpointId, WaitingEndpoint } from './deliveries/store.ts';
import type { Claim } from './lease.ts';
import type { Receiver } from './store.ts';

/** Maximum number of concurrent posts. */
export const IN_FLIGHT = 256;
/** Maximum number of concurrent posts to one endpoint. */
const IN_FLIGHT_PER_ENDPOINT = 4;
const IN_FLIGHT_PER_FAILING_ENDPOINT = 1;
/** Maximum number of concurrent posts to all endpoints together whose last post failed. */
const IN_FLIGHT_FAILING = 192;

type TenantId = WaitingEndpoint['tenantId'];
type Limits = { limit: number; perEndpoint: number };
/**
 * A tenant while slots are given out: the number of slots it holds, new ones included, and its endpoints with due
 * posts.
 */
type Candidate = { held: number; endpoints: WaitingEndpoint[] };

/** Counts the posts in flight by endpoint and by tenant. */
export class Slots {
  readonly #byEndpoint = new Counts<EndpointId>();
  readonly #shares = new Shares<TenantId>(IN_FLIGHT);

  take({ id, tenantId }: Pick<Receiver, 'id' | 'tenantId'>): void {
    this.#byEndpoint.add(id, 1);
    this.#shares.count(tenantId);
  }

  free({ id, tenantId }: Pick<Receiver, 'id' | 'tenantId'>): void {
    this.#byEndpoint.add(id, -1);
    this.#shares.release(tenantId);
  }

  /**
   * Gives out up to `limit` slots among the endpoints with due deliveries, those that waited longest first.
   *
   * @param waiting all waiting endpoints, also those with posts in flight
   */
  share(waiting: readonly WaitingEndpoint[], { now, limit }: { now: number; limit: number }): Claim[] {
    const due = waiting.filter(({ dueAt }) => dueAt <= now);
    return this.#assign(waiting, due, { limit, perEndpoint: IN_FLIGHT_PER_ENDPOINT });
  }

  /**
   * Gives out slots once more among endpoints that were read a while ago: one slot each, to endpoints that have none
   * and were given none since. The due posts of the others may be settled already.
   */
  shareRest(
    waiting: readonly WaitingEndpoint[],
    { now, limit, given }: { now: number; limit: number; given: ReadonlySet<EndpointId> },
  ): Claim[] {
    const rest = waiting.filter(({ endpointId, dueAt }) => dueAt <= now && !given.has(endpointId));
    return this.#assign(waiting, rest, { limit, perEndpoint: 1 });
  }

  /** Gives out slots in rounds: each round gives one slot to every tenant that holds the fewest. */
  #assign(
    waiting: readonly WaitingEndpoint[],
    due: readonly WaitingEndpoint[],
    { limit, perEndpoint }: Limits,
  ): Claim[] {
    const granted = new Counts<EndpointId>();
    let left = limit;
    let { free } = this.#shares;
    let leftFailing = this.#freeForFailing(waiting);
    let candidates = this.#candidates(due);
    while (left > 0 && candidates.length > 0) {
      const fewest = candidates.reduce((least, { held }) => Math.min(least, held), IN_FLIGHT);
      const served = new Set<Candidate>();
      for (const tenant of candidates) {
        if (left <= 0) break;
        if (tenant.held > fewest || !mayTakeAnother({ held: tenant.held, free })) continue;
        const endpoint = this.#pick(tenant, granted, { perEndpoint, leftFailing });
        if (!endpoint) continue;
        granted.add(endpoint.endpointId, 1);
        if (endpoint.failing) leftFailing -= 1;
        tenant.held += 1;
        left -= 1;
        free -= 1;
        served.add(tenant);
      }
      candidates = candidates.filter((tenant) => tenant.held > fewest || served.has(tenant));
    }
    return [...granted].map(([endpointId, count]) => ({ endpointId, limit: count }));
  }

  /** Groups due endpoints by tenant, those that waited longest first. */
  #candidates(due: readonly WaitingEndpoint[]): Candidate[] {
    const byTenant = Map.groupBy(due, ({ tenantId }) => tenantId);
    return [...byTenant].map(([tenantId, endpoints]) => ({ held: this.#shares.heldBy(tenantId), endpoints }));
  }

  /** Returns the tenant's endpoint that holds the fewest slots, and among equals the one that waited longest. */
  #pick(
    { endpoints }: Candidate,
    granted: Counts<EndpointId>,
    { perEndpoint, leftFailing }: { perEndpoint: number; leftFailing: number },
  ): WaitingEndpoint | undefined {
    let best: WaitingEndpoint | undefined;
    let fewest = perEndpoint;
    for (const endpoint of endpoints) {
      const held = this.#byEndpoint.of(endpoint.endpointId) + granted.of(endpoint.endpointId);
      if (held >= fewest || held >= mostFor(endpoint.failing)) continue;
      if (endpoint.failing && leftFailing <= 0) continue;
      best = endpoint;
      fewest = held;
    }
    return best;
  }

  /** Returns the endpoint that can get a slot first when it falls due. The others get one when a post ends. */
  next(waiting: readonly WaitingEndpoint[]): WaitingEndpoint | undefined {
    const freeForFailing = this.#freeForFailing(waiting) > 0;
    return waiting.find(
      ({ endpointId, tenantId, failing }) =>
        this.#byEndpoint.of(endpointId) < mostFor(failing) &&
        this.#shares.mayTake(tenantId) &&
        (!failing || freeForFailing),
    );
  }

  #freeForFailing(waiting: readonly WaitingEndpoint[]): number {
    let free = IN_FLIGHT_FAILING;
    for (const { endpointId, failing } of waiting) if (failing) free -= this.#byEndpoint.of(endpointId);
    return free;
  }
}

function mostFor(failing: 0 | 1): number {
  return failing ? IN_FLIGHT_PER_FAILING_ENDPOINT : IN_FLIGHT_PER_ENDPOINT;
}

/** Counts by key; a missing key counts as 0. */
class Counts<Key> {
  readonly #counts = new Map<Key, number>();

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: Key, change: number): void {
    const count = this.of(key) + change;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  [Symbol.iterator](): Iterator<[Key, number]> {
    return this.#counts.entries();
  }
}
