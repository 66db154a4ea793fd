/**
 * Chooses how many deliveries of which endpoints a worker leases next. It reads the list of endpoints with due
 * deliveries, gives out slots among them, and reuses the list, because reading a thousand endpoints takes milliseconds.
 */
import { type Claim, Slots, type WaitingEndpoint } from './slots.ts';

/** Maximum number of leases in a row that take nothing, before the worker pauses. */
const MAX_LEASE_TRIES = 3;

type Endpoint<EndpointId> = Pick<WaitingEndpoint<EndpointId>, 'tenantId'> & { id: EndpointId };

export class Claims<EndpointId extends string> {
  readonly #slots = new Slots<EndpointId>();
  readonly #listWaiting: () => Promise<WaitingEndpoint<EndpointId>[]>;
  #waiting: WaitingEndpoint<EndpointId>[] = [];
  /** Endpoints that were given a slot since the list was read. */
  readonly #given = new Set<EndpointId>();

  /**
   * Creates the claims of one worker.
   * @param listWaiting returns the endpoints with pending deliveries, the longest due first
   */
  constructor(listWaiting: () => Promise<WaitingEndpoint<EndpointId>[]>) {
    this.#listWaiting = listWaiting;
  }

  /**
   * Leases deliveries, and takes a slot for each. `nextDueAt` is the time of the next lease.
   *
   * @param lease leases the claimed deliveries, or fewer, and returns them
   */
  async lease<Item extends { endpoint: Endpoint<EndpointId> }>(
    { now, limit }: { now: number; limit: number },
    lease: (claims: Claim<EndpointId>[]) => Promise<Item[]>,
  ): Promise<{ items: Item[]; nextDueAt: number | undefined }> {
    for (let tries = 0; tries < MAX_LEASE_TRIES; tries += 1) {
      const claims = await this.#next(now, limit);
      if (claims.length === 0) break;
      const items = await lease(claims);
      for (const { endpoint } of items) this.#slots.take(endpoint);
      // The list may hold more endpoints that are due, so the worker leases again at once.
      if (items.length > 0) return { items, nextDueAt: now };
      // When nothing was leased, the list of waiting endpoints is out of date: endpoints were suspended, disabled or
      // deleted since.
    }
    return { items: [], nextDueAt: this.#slots.next(this.#waiting)?.dueAt };
  }

  /** Gives the slot of a post back. */
  free(endpoint: Endpoint<EndpointId>): void {
    this.#slots.free(endpoint);
  }

  async #next(now: number, limit: number): Promise<Claim<EndpointId>[]> {
    let claims = this.#slots.shareRest(this.#waiting, { now, limit, given: this.#given });
    if (claims.length === 0) {
      this.#waiting = await this.#listWaiting();
      this.#given.clear();
      claims = this.#slots.share(this.#waiting, { now, limit });
    }
    for (const { endpointId } of claims) this.#given.add(endpointId);
    return claims;
  }
}
