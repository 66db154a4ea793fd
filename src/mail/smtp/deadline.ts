/**
 * The deadline of whatever a connection waits for, with one timer for all of them: a session sets two deadlines for
 * each message, and a timer that is moved only when it fires, or when it would fire too late, costs next to nothing.
 * What has come in time is not said here: `onPassed` asks whether anything is still waited for.
 */
import type { Clock, Timer } from '../../system/clock.ts';

export class Deadline {
  readonly #clock: Clock;
  readonly #onPassed: () => void;
  #timer: Timer | undefined;
  /** On the monotonic clock, both. */
  #timerDueAt = 0;
  #at = 0;

  constructor(clock: Clock, onPassed: () => void) {
    this.#clock = clock;
    this.#onPassed = onPassed;
  }

  set(timeoutMs: number): void {
    const at = this.#clock.elapsed() + timeoutMs;
    this.#at = at;
    if (this.#timer && this.#timerDueAt <= at) return;
    this.#timer?.cancel();
    this.#start(timeoutMs, at);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #start(delayMs: number, dueAt: number): void {
    this.#timerDueAt = dueAt;
    this.#timer = this.#clock.after(delayMs, this.#onTimer);
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    const leftMs = this.#at - this.#clock.elapsed();
    if (leftMs > 0) {
      this.#start(leftMs, this.#at);
    } else {
      this.#onPassed();
    }
  };
}
