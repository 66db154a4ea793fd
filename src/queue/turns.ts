/**
 * The order in which the lanes of a site are served: four transactional messages for each broadcast message; within
 * each kind the tenants round-robin, and the lanes of each tenant round-robin. A tenant with mail for a thousand
 * domains of one provider is served as often as a tenant with mail for one of them.
 */
import type { Lane } from './lane.ts';
import { TenantLines } from './tenant-lines.ts';

/** engine.md 4, selection: 8 to 2. */
const TRANSACTIONAL_TURNS = 4;

export class Turns {
  readonly #lanes = {
    transactional: new TenantLines<Lane>(),
    broadcast: new TenantLines<Lane>(),
  };
  #turn = 0;

  get size(): number {
    return this.#lanes.transactional.size + this.#lanes.broadcast.size;
  }

  add(lane: Lane): void {
    this.#lanes[lane.name.kind].add(lane.name.tenantId, lane);
  }

  remove(lane: Lane): void {
    this.#lanes[lane.name.kind].remove(lane.name.tenantId, lane);
  }

  has(tenantId: string): boolean {
    return this.#lanes.transactional.has(tenantId) || this.#lanes.broadcast.has(tenantId);
  }

  /** Yields the tenants with lanes; a tenant with lanes of both kinds occurs twice. */
  *tenants(): Iterable<string> {
    yield* this.#lanes.transactional.tenants();
    yield* this.#lanes.broadcast.tenants();
  }

  *all(): Iterable<Lane> {
    for (const tenantId of this.tenants()) yield* this.lanesOf(tenantId);
  }

  /** Returns the number of lanes of the tenants that are not held back. */
  count(isHeldBack: (tenantId: string) => boolean): number {
    let count = 0;
    for (const lanes of [this.#lanes.transactional, this.#lanes.broadcast]) {
      for (const tenantId of lanes.tenants()) if (!isHeldBack(tenantId)) count += lanes.count(tenantId);
    }
    return count;
  }

  *lanesOf(tenantId: string): Iterable<Lane> {
    yield* this.#lanes.transactional.line(tenantId);
    yield* this.#lanes.broadcast.line(tenantId);
  }

  /** Returns the lane to serve next and moves it to the end. Tenants that are held back are skipped. */
  next(isHeldBack: (tenantId: string) => boolean): Lane | undefined {
    this.#turn = (this.#turn + 1) % (TRANSACTIONAL_TURNS + 1);
    const { transactional, broadcast } = this.#lanes;
    const [first, second] = this.#turn === 0 ? [broadcast, transactional] : [transactional, broadcast];
    return takeTurn(first, isHeldBack) ?? takeTurn(second, isHeldBack);
  }
}

function takeTurn(lanes: TenantLines<Lane>, isHeldBack: (tenantId: string) => boolean): Lane | undefined {
  for (const tenantId of lanes.tenants()) {
    if (isHeldBack(tenantId)) continue;
    for (const lane of lanes.line(tenantId)) {
      lanes.remove(tenantId, lane);
      lanes.add(tenantId, lane);
      lanes.moveLast(tenantId);
      return lane;
    }
  }
  return undefined;
}
