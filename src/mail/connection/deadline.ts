/**
 * A deadline that is set again and again, with one timer for all of them. A session sets two deadlines for each message,
 * so a timer is moved only when it fires, or when it would fire too late. The deadline does not learn that the awaited event
 * has happened: `onPassed` must check whether anything is still waited for.
 */
import type { Clock, Timer } from '../../system/clock.ts';

export class Deadline {
  readonly #clock: Clock;
  readonly #onPassed: () => void;
  #timer: Timer | undefined;
  /** Time at which the timer fires, on the monotonic clock. */
  #timerDueAt = 0;
  /** Time of the deadline, on the monotonic clock. */
  #at = 0;

  constructor(clock: Clock, onPassed: () => void) {
    this.#clock = clock;
    this.#onPassed = onPassed;
  }

  /** Replaces the deadline: `onPassed` runs once `timeoutMs` have passed, unless the deadline is set again. */
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
