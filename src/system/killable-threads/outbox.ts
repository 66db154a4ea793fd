/** Sends jobs to a thread of `killable-threads.ts`. Those of one turn of the event loop share a message. */
import type { Worker } from 'node:worker_threads';
import type { ToJobThread } from './serve.ts';

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
