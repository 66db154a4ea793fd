/** The main thread's side of a database thread: numbers requests, sends those of one turn together, settles promises. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { inputBytes } from './input-bytes.ts';
import { type Answer, decodeError, type EncodedError, type Request } from './thread-messages.ts';

/** Beyond this the caller is told to come back rather than made to wait (engine.md 4, group commit). */
export const MAX_PENDING = 2_000;
/** The same in bytes of inputs, which are held twice while they wait: sixteen groups of the writer. */
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

type Pending = {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  sizeBytes: number;
  /** On the monotonic clock. */
  since: number;
};

export class DatabaseThread {
  /** Resolves, with the reason, only if the thread ends without having been closed. */
  readonly failed: Promise<Error>;
  /** The message with which the thread reported that it is ready. */
  readonly greeting: unknown;
  #reportFailure: (error: Error) => void = () => {};
  readonly #worker: Worker;
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** Oldest first. */
  readonly #pending = new Map<number, Pending>();
  #pendingBytes = 0;
  readonly #exited: Promise<void>;
  /** Time of the thread's last answer, on the monotonic clock. */
  #answeredAt = 0;
  /** Is called for each request that was refused because the disk is full. */
  onDiskFull: () => void = () => {};
  /** Why nothing can be run any more. */
  #ended: Error | undefined;
  #outbox: Request[] = [];
  #lastId = 0;

  private constructor(worker: Worker, clock: Pick<Clock, 'elapsed'>, greeting: unknown) {
    this.#worker = worker;
    this.#clock = clock;
    this.greeting = greeting;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()));
  }

  /** Resolves when the thread has opened its database; rejects with the reason it could not. */
  static async start(
    clock: Pick<Clock, 'elapsed'>,
    module: URL,
    workerData: unknown,
  ): Promise<DatabaseThread> {
    const worker = new Worker(module, { workerData });
    const greeting = await new Promise<unknown>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the database thread ended while starting')));
    });
    const thread = new DatabaseThread(worker, clock, greeting);
    worker.on('message', (answers: Answer[]) => thread.#settle(answers));
    worker.on('error', (error) => thread.#end(error as Error));
    worker.on('exit', () => thread.#end(new Error('the database thread has ended')));
    return thread;
  }

  get pending(): number {
    return this.#pending.size;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Milliseconds the oldest request has waited for its answer; 0 when none does. */
  get lagMs(): number {
    const [oldest] = this.#pending.values();
    return oldest ? this.#clock.elapsed() - oldest.since : 0;
  }

  /** Time in milliseconds for which the thread has answered nothing although requests wait; 0 when none waits. */
  get silentMs(): number {
    const [oldest] = this.#pending.values();
    return oldest ? this.#clock.elapsed() - Math.max(oldest.since, this.#answeredAt) : 0;
  }

  run(operation: string, input: unknown): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    const sizeBytes = inputBytes(input);
    if (!this.#hasRoomFor(sizeBytes)) {
      return Promise.reject(
        new AppError('unavailable', 'Too many writes are waiting', { retryAfterSeconds: 1 }),
      );
    }
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#pending.set(id, { resolve, reject, sizeBytes, since: this.#clock.elapsed() });
      this.#pendingBytes += sizeBytes;
      this.#outbox.push({ id, operation, input, sizeBytes });
      if (this.#outbox.length === 1) queueMicrotask(() => this.#send());
    });
  }

  /** Waits for what was asked before, closes the connection and ends the thread. What is asked later is refused. */
  async close(): Promise<void> {
    this.#send();
    this.#ended ??= new AppError('unavailable', 'The database is closing', { retryAfterSeconds: 1 });
    this.#worker.postMessage('close');
    await this.#exited;
  }

  /** What is too large for the limit by itself has room while nothing else waits. */
  #hasRoomFor(sizeBytes: number): boolean {
    if (this.#pending.size >= MAX_PENDING) return false;
    return this.#pendingBytes === 0 || this.#pendingBytes + sizeBytes <= MAX_PENDING_BYTES;
  }

  #send(): void {
    const requests = this.#outbox;
    this.#outbox = [];
    if (requests.length === 0) return;
    try {
      this.#worker.postMessage(requests);
    } catch {
      for (const request of requests) this.#sendAlone(request);
    }
  }

  /** An input that cannot be cloned is the bug of one caller. */
  #sendAlone(request: Request): void {
    try {
      this.#worker.postMessage([request]);
    } catch (error) {
      this.#take(request.id)?.reject(error);
    }
  }

  #settle(answers: readonly Answer[]): void {
    this.#answeredAt = this.#clock.elapsed();
    for (const answer of answers) {
      const pending = this.#take(answer.id);
      if ('error' in answer) pending?.reject(this.#readError(answer.error));
      else pending?.resolve(answer.value);
    }
  }

  #readError(encoded: EncodedError): Error {
    const error = decodeError(encoded);
    if (error instanceof AppError && error.options.shortage === 'disk') this.onDiskFull();
    return error;
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (!pending) return undefined;
    this.#pending.delete(id);
    this.#pendingBytes -= pending.sizeBytes;
    return pending;
  }

  #end(error: Error): void {
    if (!this.#ended) this.#reportFailure(error);
    this.#ended ??= error;
    for (const id of this.#pending.keys()) this.#take(id)?.reject(error);
  }
}
