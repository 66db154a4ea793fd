/**
 * Who may post next. There are so many posts at the same time and no more, and a receiver that never answers keeps each
 * for 15 seconds: so the slots go to the endpoints that hold the fewest, one whose last post failed has but one, and all
 * of those together never take the last quarter. However many receivers are dead, the others are served.
 */
import type { EndpointId, WaitingEndpoint } from './deliveries/store.ts';
import type { Claim } from './lease.ts';

/** Posts at the same time. */
export const IN_FLIGHT = 256;
/** To one endpoint (api.md 1.8). */
const IN_FLIGHT_PER_ENDPOINT = 4;
const IN_FLIGHT_PER_FAILING_ENDPOINT = 1;
/** To all endpoints together whose last post failed. */
const IN_FLIGHT_FAILING = 192;

/** Posts under way, by endpoint. */
export class Slots {
  readonly #held = new Map<EndpointId, number>();

  take(id: EndpointId): void {
    this.#held.set(id, this.#heldBy(id) + 1);
  }

  free(id: EndpointId): void {
    const left = this.#heldBy(id) - 1;
    if (left > 0) this.#held.set(id, left);
    else this.#held.delete(id);
  }

  /**
   * Gives out up to `limit` slots among the endpoints of which something is due, those that waited longest first.
   *
   * @param waiting all of them, since what is under way to one is not due
   */
  share(waiting: readonly WaitingEndpoint[], { now, limit }: { now: number; limit: number }): Claim[] {
    const due = waiting.filter(({ dueAt }) => dueAt <= now);
    return this.#give(waiting, due, { limit, levels: IN_FLIGHT_PER_ENDPOINT });
  }

  /**
   * The same once more, of endpoints that were read a while ago: one slot each, to those that have none, and were given
   * none since. What is due to the others may be gone.
   */
  shareRest(
    waiting: readonly WaitingEndpoint[],
    { now, limit, given }: { now: number; limit: number; given: ReadonlySet<EndpointId> },
  ): Claim[] {
    const rest = waiting.filter(({ endpointId, dueAt }) => dueAt <= now && !given.has(endpointId));
    return this.#give(waiting, rest, { limit, levels: 1 });
  }

  #give(
    waiting: readonly WaitingEndpoint[],
    due: readonly WaitingEndpoint[],
    { limit, levels }: { limit: number; levels: number },
  ): Claim[] {
    const granted = new Map<EndpointId, number>();
    let left = limit;
    let leftFailing = this.#roomForFailing(waiting);
    for (let level = 0; level < levels; level += 1) {
      for (const { endpointId, failing } of due) {
        if (left <= 0) break;
        const already = granted.get(endpointId) ?? 0;
        if (this.#heldBy(endpointId) + already !== level || level >= mostFor(failing)) continue;
        if (failing) {
          if (leftFailing <= 0) continue;
          leftFailing -= 1;
        }
        granted.set(endpointId, already + 1);
        left -= 1;
      }
    }
    return [...granted].map(([endpointId, count]) => ({ endpointId, limit: count }));
  }

  /** The first that could be given a slot when it falls due; for the others the end of a post is the moment to look. */
  next(waiting: readonly WaitingEndpoint[]): WaitingEndpoint | undefined {
    const roomForFailing = this.#roomForFailing(waiting) > 0;
    return waiting.find(
      ({ endpointId, failing }) =>
        this.#heldBy(endpointId) < mostFor(failing) && (!failing || roomForFailing),
    );
  }

  #roomForFailing(waiting: readonly WaitingEndpoint[]): number {
    let room = IN_FLIGHT_FAILING;
    for (const { endpointId, failing } of waiting) if (failing) room -= this.#heldBy(endpointId);
    return room;
  }

  #heldBy(id: EndpointId): number {
    return this.#held.get(id) ?? 0;
  }
}

function mostFor(failing: 0 | 1): number {
  return failing ? IN_FLIGHT_PER_FAILING_ENDPOINT : IN_FLIGHT_PER_ENDPOINT;
}
