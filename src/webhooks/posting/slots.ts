/**
 * Decides which endpoints are posted to next. The number of concurrent posts is bounded, and a receiver that never
 * answers keeps each for 15 seconds. Therefore slots go to the tenants that hold the fewest, and within a tenant to the
 * endpoints that hold the fewest. No tenant takes the last slots (`system/shares.ts`), an endpoint whose last post
 * failed has one slot, and all such endpoints together never take the last quarter. However many receivers are dead, of
 * one tenant or of many, the others are served.
 */
import type { Id } from '../../system/ids.ts';
import { mayTakeAnother, Shares } from '../../system/shares.ts';

/** Maximum number of concurrent posts. */
export const IN_FLIGHT = 256;
/** Maximum number of concurrent posts to one endpoint. */
const IN_FLIGHT_PER_ENDPOINT = 4;
const IN_FLIGHT_PER_FAILING_ENDPOINT = 1;
/** Maximum number of concurrent posts to all endpoints together whose last post failed. */
const IN_FLIGHT_FAILING = 192;

/** A webhook endpoint, or an inbound route, with deliveries that are still pending. */
export type WaitingEndpoint<EndpointId = Id<'wh'>> = {
  endpointId: EndpointId;
  /** Tenant of the endpoint; null when the endpoint was deleted. */
  tenantId: Id<'ten'> | null;
  /** Time at which the first delivery falls due or its lease ends, but not before the endpoint's suspension ends. */
  dueAt: number;
  /** 1 when the last post of the endpoint failed. */
  failing: 0 | 1;
};

/** Number of due deliveries of an endpoint that may be leased. */
export type Claim<EndpointId = Id<'wh'>> = { endpointId: EndpointId; limit: number };

type TenantId = WaitingEndpoint['tenantId'];
type Holder<EndpointId> = { id: EndpointId; tenantId: TenantId };
type Limits = { limit: number; perEndpoint: number };
/**
 * A tenant while slots are given out: the number of slots it holds, new ones included, and its endpoints with due
 * posts.
 */
type Candidate<EndpointId> = { held: number; endpoints: WaitingEndpoint<EndpointId>[] };

/** Counts the posts in flight by endpoint and by tenant. */
export class Slots<EndpointId extends string = Id<'wh'>> {
  readonly #byEndpoint = new Counts<EndpointId>();
  readonly #shares = new Shares<TenantId>(IN_FLIGHT);

  take({ id, tenantId }: Holder<EndpointId>): void {
    this.#byEndpoint.add(id, 1);
    this.#shares.count(tenantId);
  }

  free({ id, tenantId }: Holder<EndpointId>): void {
    this.#byEndpoint.add(id, -1);
    this.#shares.release(tenantId);
  }

  /**
   * Gives out up to `limit` slots among the endpoints with due deliveries, those that waited longest first.
   *
   * @param waiting all waiting endpoints, also those with posts in flight
   */
  share(
    waiting: readonly WaitingEndpoint<EndpointId>[],
    { now, limit }: { now: number; limit: number },
  ): Claim<EndpointId>[] {
    const due = waiting.filter(({ dueAt }) => dueAt <= now);
    return this.#assign(waiting, due, { limit, perEndpoint: IN_FLIGHT_PER_ENDPOINT });
  }

  /**
   * Gives out slots once more among endpoints that were read a while ago: one slot each, to endpoints that have none
   * and were given none since. The due posts of the others may be settled already.
   */
  shareRest(
    waiting: readonly WaitingEndpoint<EndpointId>[],
    { now, limit, given }: { now: number; limit: number; given: ReadonlySet<EndpointId> },
  ): Claim<EndpointId>[] {
    const rest = waiting.filter(({ endpointId, dueAt }) => dueAt <= now && !given.has(endpointId));
    return this.#assign(waiting, rest, { limit, perEndpoint: 1 });
  }

  /** Gives out slots in rounds: each round gives one slot to every tenant that holds the fewest. */
  #assign(
    waiting: readonly WaitingEndpoint<EndpointId>[],
    due: readonly WaitingEndpoint<EndpointId>[],
    { limit, perEndpoint }: Limits,
  ): Claim<EndpointId>[] {
    const granted = new Counts<EndpointId>();
    let left = limit;
    let { free } = this.#shares;
    let leftFailing = this.#freeForFailing(waiting);
    let candidates = this.#candidates(due);
    while (left > 0 && candidates.length > 0) {
      const fewest = candidates.reduce((least, { held }) => Math.min(least, held), IN_FLIGHT);
      const served = new Set<Candidate<EndpointId>>();
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
  #candidates(due: readonly WaitingEndpoint<EndpointId>[]): Candidate<EndpointId>[] {
    const byTenant = Map.groupBy(due, ({ tenantId }) => tenantId);
    return [...byTenant].map(([tenantId, endpoints]) => ({ held: this.#shares.heldBy(tenantId), endpoints }));
  }

  /** Returns the tenant's endpoint that holds the fewest slots, and among equals the one that waited longest. */
  #pick(
    { endpoints }: Candidate<EndpointId>,
    granted: Counts<EndpointId>,
    { perEndpoint, leftFailing }: { perEndpoint: number; leftFailing: number },
  ): WaitingEndpoint<EndpointId> | undefined {
    let best: WaitingEndpoint<EndpointId> | undefined;
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
  next(waiting: readonly WaitingEndpoint<EndpointId>[]): WaitingEndpoint<EndpointId> | undefined {
    const freeForFailing = this.#freeForFailing(waiting) > 0;
    return waiting.find(
      ({ endpointId, tenantId, failing }) =>
        this.#byEndpoint.of(endpointId) < mostFor(failing) &&
        this.#shares.mayTake(tenantId) &&
        (!failing || freeForFailing),
    );
  }

  #freeForFailing(waiting: readonly WaitingEndpoint<EndpointId>[]): number {
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
