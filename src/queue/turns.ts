/** The lanes of a place take turns: each message from the next lane, and four transactional ones to a broadcast. */
import type { Lane } from './lane.ts';

/** engine.md 4, selection: 8 to 2. */
const TRANSACTIONAL_TURNS = 4;

export class Turns {
  readonly #lanes = { transactional: new Set<Lane>(), broadcast: new Set<Lane>() };
  #turn = 0;

  get size(): number {
    return this.#lanes.transactional.size + this.#lanes.broadcast.size;
  }

  add(lane: Lane): void {
    this.#lanes[lane.name.kind].add(lane);
  }

  remove(lane: Lane): void {
    this.#lanes[lane.name.kind].delete(lane);
  }

  /** The lane whose turn it is; it then stands last. */
  next(): Lane | undefined {
    this.#turn = (this.#turn + 1) % (TRANSACTIONAL_TURNS + 1);
    const { transactional, broadcast } = this.#lanes;
    const [first, second] = this.#turn === 0 ? [broadcast, transactional] : [transactional, broadcast];
    return rotate(first) ?? rotate(second);
  }

  *[Symbol.iterator](): Iterator<Lane> {
    yield* this.#lanes.transactional;
    yield* this.#lanes.broadcast;
  }
}

/** A set keeps the order of insertion. */
function rotate(lanes: Set<Lane>): Lane | undefined {
  for (const lane of lanes) {
    lanes.delete(lane);
    lanes.add(lane);
    return lane;
  }
  return undefined;
}
