/** Sends jobs to a thread of `killable-threads.ts`. Those of one turn of the event loop share a message. */
import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../clock.ts';
import type { ToJobThread } from './serve.ts';

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

type NewJob<Input> = { id: number; input: Input; transfer: readonly ArrayBuffer[] };

export class JobOutbox<Input> {
  readonly #worker: Pick<Worker, 'postMessage'>;
  readonly #onFailure: (id: number, error: unknown) => void;
  #waiting: NewJob<Input>[] = [];

  /** `onFailure` is called for a job whose input cannot be cloned. */
  constructor(worker: Pick<Worker, 'postMessage'>, onFailure: (id: number, error: unknown) => void) {
    this.#worker = worker;
    this.#onFailure = onFailure;
  }

  add(job: NewJob<Input>): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#send());
    this.#waiting.push(job);
  }

  #send(): void {
    const jobs = this.#waiting;
    this.#waiting = [];
    try {
      this.#post(jobs);
    } catch {
      for (const job of jobs) this.#sendAlone(job);
    }
  }

  /** Sends one job. An input that cannot be cloned is a bug of one caller, and fails only that job. */
  #sendAlone(job: NewJob<Input>): void {
    try {
      this.#post([job]);
    } catch (error) {
      this.#onFailure(job.id, error);
    }
  }

  #post(jobs: readonly NewJob<Input>[]): void {
    const message: ToJobThread<Input> = { kind: 'run', jobs: jobs.map(({ id, input }) => ({ id, input })) };
    this.#worker.postMessage(
      message,
      jobs.flatMap(({ transfer }) => transfer),
    );
  }
}

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
