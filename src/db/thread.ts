/**
 * The main thread's side of a database thread. It numbers requests, sends those of one turn of the event loop
 * together, and settles their promises.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { inputBytes } from './input-bytes.ts';
import { type Answer, decodeError, type EncodedError, type Request } from './thread-messages.ts';

/**
 * Maximum number of pending requests. Further ones are refused with a time to retry, instead of waiting (engine.md 4,
 * group commit).
 */
export const MAX_PENDING = 2_000;
/**
 * Maximum size of the inputs of pending requests, sixteen groups of the writer. While they wait they are in memory
 * twice.
 */
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

type Pending = {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  sizeBytes: number;
  /** Time of the request on the monotonic clock, in milliseconds. */
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
  /** Pending requests by id, oldest first. */
  readonly #pending = new Map<number, Pending>();
  #pendingBytes = 0;
  readonly #exited: Promise<void>;
  /** Time of the thread's last answer, on the monotonic clock. */
  #answeredAt = 0;
  /** Is called for each request that was refused because the disk is full. */
  onDiskFull: () => void = () => {};
  /** The reason why no operation can run any more. */
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

  /**
   * Starts a thread.
   * @throws the error for which the thread could not open its database
   */
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

  /** Age of the oldest pending request, in milliseconds; 0 when there is none. */
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
    if (!this.#fits(sizeBytes)) {
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

  /** Waits for earlier requests, closes the connection and ends the thread. Later requests are refused. */
  async close(): Promise<void> {
    this.#send();
    this.#ended ??= new AppError('unavailable', 'The database is closing', { retryAfterSeconds: 1 });
    this.#worker.postMessage('close');
    await this.#exited;
  }

  /**
   * Returns true when another request may be queued. An input above the limit is accepted while no other is pending.
   */
  #fits(sizeBytes: number): boolean {
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

  /**
   * Sends one request. An input that cannot be cloned is a bug of one caller, and only that caller receives the
   * error.
   */
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
