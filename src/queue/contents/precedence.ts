/**
 * Lets urgent mail pass the composing of large copies in a thread that delivers. A copy of 234 KiB takes the thread 3 ms at a time, and
 * an urgent message takes some ten turns of the event loop, between which it waits for the database and its peer.
 */
import { type Clock, sleep } from '../../system/clock.ts';

/** Time after a step of urgent mail in which its next one is likely: a write to the database takes 3 to 10 ms. */
const STEP_MS = 10;
/** Maximum time that a slice of a copy waits, so that copies are composed however much urgent mail there is. */
export const MAX_WAIT_MS = 30;

export class Precedence {
  readonly #clock: Clock;
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a step of urgent mail. */
  step(): void {
    this.#until = this.#clock.elapsed() + STEP_MS;
  }

  /** Resolves some time after the last step of urgent mail. Returns undefined when that has passed. */
  wait(): Promise<void> | undefined {
    return this.#until > this.#clock.elapsed() ? this.#waitOut() : undefined;
  }

  async #waitOut(): Promise<void> {
    const latest = this.#clock.elapsed() + MAX_WAIT_MS;
    for (;;) {
      const now = this.#clock.elapsed();
      const until = Math.min(this.#until, latest);
      if (until <= now) return;
      await sleep(this.#clock, until - now);
    }
  }
}
