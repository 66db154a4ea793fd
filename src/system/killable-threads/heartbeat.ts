/** Finds out that a thread with several jobs no longer runs its event loop. */
import type { Clock, Timer } from '../clock.ts';

/**
 * A thread is asked this often whether its event loop still turns, and counts as blocked after this many questions in a row without an
 * answer. The questions are counted, because a process that was suspended finds that much time has passed and no message read.
 */
export const PING_PERIOD_MS = 500;
export const MAX_UNANSWERED_PINGS = 6;

type HeartbeatOptions = {
  ping(): void;
  onBlocked(): void;
};

export class Heartbeat {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #options: HeartbeatOptions;
  #timer: Timer | undefined;
  #unanswered = 0;

  constructor(clock: Pick<Clock, 'after'>, options: HeartbeatOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Begins to ask, unless the thread is being asked. */
  start(): void {
    if (!this.#timer) this.#pingLater();
  }

  /** Notes that the thread has sent something. */
  markAnswered(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #pingLater(): void {
    this.#timer = this.#clock.after(PING_PERIOD_MS, () => {
      if (this.#unanswered >= MAX_UNANSWERED_PINGS) {
        this.#options.onBlocked();
        return;
      }
      this.#unanswered += 1;
      this.#options.ping();
      this.#pingLater();
    });
  }
}
