/**
 * Decides how many posts to an endpoint may be open at the same time, as TCP decides how much it sends: more while the
 * answers are quick and good, half as many when a receiver is overloaded or does not answer.
 */

/** Number of open posts to an endpoint that nothing is known about. */
const FIRST_SIZE = 4;
/** Time within which an answer is quick, in milliseconds. */
const QUICK_MS = 1_000;

/** Describes what a post came to. Its time is that from its begin to its answer, in milliseconds. */
export type Answer = { isGood: boolean; isOverloaded: boolean; timeMs: number };

type Window = {
  size: number;
  open: number;
  /** True when half of the window was open at the same time: otherwise good answers say nothing about more posts. */
  isUsed: boolean;
  /** Size from which on the window grows by one for each round, not for each answer. */
  slowFrom: number;
  /** Begin of the posts of a new size: those that began before say nothing about it. */
  changedAt: number;
};

export class Windows {
  readonly #max: number;
  readonly #windows = new Map<string, Window>();

  /**
   * Creates windows without any knowledge.
   * @param max maximum number of open posts to one endpoint
   */
  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the number of posts to the endpoint that may be open. */
  sizeOf(endpoint: string): number {
    return Math.floor(Math.min(this.#windows.get(endpoint)?.size ?? FIRST_SIZE, this.#max));
  }

  /** Takes note of a post. `now` is a time of the monotonic clock. */
  begin(endpoint: string): void {
    const window = this.#windows.get(endpoint) ?? this.#open(endpoint);
    window.isUsed &&= window.open > 0;
    window.open += 1;
    window.isUsed ||= 2 * window.open >= window.size;
  }

  /** Takes note of the end of a post that began at `beganAt`. */
  end(endpoint: string, answer: Answer, { beganAt, now }: { beganAt: number; now: number }): void {
    const window = this.#windows.get(endpoint);
    if (!window) return;
    if (answer.isOverloaded && beganAt >= window.changedAt) {
      window.size = Math.max(1, window.size / 2);
      window.slowFrom = window.size;
      window.changedAt = now;
    } else if (answer.isGood && answer.timeMs <= QUICK_MS && window.isUsed)
      window.size = Math.min(window.size + (window.size < window.slowFrom ? 1 : 1 / window.size), this.#max);
    window.open -= 1;
    const isUnknown = window.size === FIRST_SIZE && window.slowFrom === this.#max;
    if (window.open === 0 && isUnknown) this.#windows.delete(endpoint);
  }

  #open(endpoint: string): Window {
    const size = Math.min(FIRST_SIZE, this.#max);
    const window = { size, open: 0, isUsed: false, slowFrom: this.#max, changedAt: 0 };
    this.#windows.set(endpoint, window);
    return window;
  }
}
