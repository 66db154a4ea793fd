/** The times of a call: how long it and its tries may take, what ends it early, and the pauses between tries. */
import { PostriderError } from './errors.ts';

const DEFAULT_DEADLINE_MS = 120_000;
/** A try has one second more for each so many bytes of its body. */
const BYTES_PER_SECOND = 100_000;
const FIRST_PAUSE_MS = 500;
/** Longest time that a call waits because the server asks for it, in seconds. */
export const MAX_RETRY_AFTER = 30;
/** Longest time that timers can take. Longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type Times = { timeoutMs: number; deadlineMs: number | undefined };
type Reason = 'timeout' | 'canceled' | 'closed';

const MESSAGES = {
  timeout: 'There was no answer in time.',
  canceled: 'The call was canceled.',
  closed: 'The client is closed.',
};

export function ended(reason: Reason, cause?: unknown): PostriderError {
  return new PostriderError({ type: reason, message: MESSAGES[reason], cause });
}

export function tryMs(timeoutMs: number, bodyBytes: number): number {
  return timeoutMs + (bodyBytes / BYTES_PER_SECOND) * 1000;
}

/** Pause before a repeat: 0.5 s, doubled each time, with jitter; or what the server wants where that is longer. */
export function pauseMs(repeat: number, retryAfter: number | undefined): number {
  const own = FIRST_PAUSE_MS * 2 ** (repeat - 1) * (0.5 + Math.random() / 2);
  return Math.max(own, (retryAfter ?? 0) * 1000);
}

/** One call, from its start until its answer has been read. What ends it early ends what it waits for. */
export class Call {
  readonly #startedAt = performance.now();
  readonly #times: Times;
  readonly #signal: AbortSignal | undefined;
  readonly #cancel = () => this.end('canceled', this.#signal?.reason);
  #deadlineAt = Number.POSITIVE_INFINITY;
  #error: PostriderError | undefined;
  #reject: ((error: PostriderError) => void) | undefined;
  #stop: ((error: PostriderError) => void) | undefined;

  constructor(times: Times, signal: AbortSignal | undefined) {
    this.#times = times;
    this.#signal = signal;
    if (signal?.aborted) this.#cancel();
    else signal?.addEventListener('abort', this.#cancel);
    this.#setDeadline(0);
  }

  /** Time that a try may take, in milliseconds. */
  tryMs(bodyBytes: number): number {
    this.#setDeadline(bodyBytes);
    return tryMs(this.#times.timeoutMs, bodyBytes);
  }

  get leftMs(): number {
    return this.#deadlineAt - performance.now();
  }

  /** Why the call has ended early. */
  get error(): PostriderError | undefined {
    return this.#error;
  }

  end(reason: Reason, cause?: unknown): void {
    if (this.#error !== undefined) return;
    this.#error = ended(reason, cause);
    this.#stop?.(this.#error);
    this.#reject?.(this.#error);
  }

  /** Sets what stops the transfer that is under way when the call is ended. */
  onEnd(stop: (error: PostriderError) => void): void {
    this.#stop = stop;
  }

  /** Stops listening to the signal of the caller, which may outlive many calls. */
  release(): void {
    this.#signal?.removeEventListener('abort', this.#cancel);
  }

  /** Waits for work, at most so long. When the time is over, or the call is ended, it throws the error of that. */
  async within<T>(ms: number, work: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const early = new Promise<never>((_, reject) => {
      this.#reject = reject;
      if (this.#error !== undefined) reject(this.#error);
      const limit = Math.max(0, Math.min(ms, this.leftMs, MAX_TIMER_MS));
      timer = setTimeout(() => reject(ended('timeout')), limit);
    });
    try {
      return await Promise.race([work, early]);
    } finally {
      clearTimeout(timer);
      this.#reject = undefined;
    }
  }

  /** Waits until the next try. */
  async pause(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const work = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    try {
      await this.within(Number.POSITIVE_INFINITY, work);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lets the deadline pass: the parts of a stream have only their own times. */
  liftDeadline(): void {
    this.#deadlineAt = Number.POSITIVE_INFINITY;
  }

  #setDeadline(bodyBytes: number): void {
    const { timeoutMs, deadlineMs } = this.#times;
    const allowed = deadlineMs ?? Math.max(DEFAULT_DEADLINE_MS, 2 * tryMs(timeoutMs, bodyBytes));
    this.#deadlineAt = this.#startedAt + allowed;
  }
}
