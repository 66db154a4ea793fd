/**
 * The time of a simulation. Everything that happens later is an event; when nothing runs any more, the time jumps to the next
 * event. Events at the same time run in the order in which they were added, so a seed always gives the same history.
 */
import type { Timer } from '../../src/system/clock.ts';
import { IndexedHeap } from '../../src/system/indexed-heap.ts';

type Event = { at: number; position: number; run: () => void };

/** Turns of the event loop after an event. One runs all promises; the second is for work that yields once. */
const TURNS_PER_EVENT = 2;

export class VirtualTime {
  readonly #events = new IndexedHeap<Event>((one, other) =>
    one.at === other.at ? one.position < other.position : one.at < other.at,
  );
  #now = 0;
  #lastPosition = 0;
  /** Number of events that have run. */
  ran = 0;

  /** Milliseconds since the simulation began. */
  get now(): number {
    return this.#now;
  }

  /** Runs `run` after `delayMs`, unless the timer is canceled before. */
  after(delayMs: number, run: () => void): Timer {
    const event = { at: this.#now + Math.max(delayMs, 0), position: ++this.#lastPosition, run };
    this.#events.add(event);
    return { cancel: () => void this.#events.delete(event) };
  }

  /** Runs events until `isOver` returns true, no event is left, or the time reaches `untilMs`. */
  async run(untilMs: number, isOver: () => boolean): Promise<void> {
    await settle();
    while (!isOver()) {
      const event = this.#events.first;
      if (event === undefined || event.at > untilMs) {
        this.#now = Math.max(this.#now, untilMs);
        return;
      }
      this.#events.delete(event);
      this.#now = event.at;
      this.ran++;
      event.run();
      await settle();
    }
  }
}

/** Lets promises settle. Nothing of a simulation waits for real input or output, so the number of turns never depends on the machine. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS_PER_EVENT; turn++) await new Promise((resolve) => setImmediate(resolve));
}
