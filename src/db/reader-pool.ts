/**
 * The reader threads. The first one starts on request or at the first long read, so a command that needs none does not
 * wait for it. Each further one starts when a read would wait behind a long one, since a thread takes about 20 MB.
 */
import type { Clock } from '../system/clock.ts';
import { DatabaseThread } from './thread.ts';
import type { ThreadDatabase } from './thread-database.ts';
import type { ReadingOptions, ThreadOptions } from './thread-messages.ts';

/** Maximum number of reader threads of the daemon, and so of concurrent long reads. */
export const READER_THREADS = 2;
/** Age of a pending read, in milliseconds, from which others do not wait for it. Starting a thread takes about as long. */
const LONG_READ_MS = 100;

type ReaderThread = DatabaseThread<'reader-thread'>;

export class ReaderPool {
  /** Resolves, with the reason, only if a reader ends without having been closed. */
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #startThread: () => Promise<ReaderThread>;
  readonly #threads: (Promise<ReaderThread> | undefined)[] = [];
  /** Maximum number of threads. */
  readonly size: number;

  constructor(clock: Pick<Clock, 'elapsed'>, options: ThreadOptions, size: number) {
    this.#startThread = () => DatabaseThread.start(clock, 'reader-thread', options);
    this.size = size;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
  }

  /** Returns a database for long reads. Nothing is opened before the first of them. */
  open(options: ReadingOptions): PooledDatabase {
    return new PooledDatabase(this, options);
  }

  /**
   * Returns the thread of this index, which it starts once. A failed start, for instance for lack of file descriptors, is
   * not remembered: the next call tries again.
   */
  thread(index: number): Promise<ReaderThread> {
    this.#threads[index] ??= this.#start().catch((error) => {
      this.#threads[index] = undefined;
      throw error;
    });
    return this.#threads[index];
  }

  async close(): Promise<void> {
    const starts = await Promise.allSettled(this.#threads);
    await Promise.all(starts.map((start) => start.status === 'fulfilled' && start.value?.close()));
  }

  async #start(): Promise<ReaderThread> {
    const thread = await this.#startThread();
    void thread.failed.then(this.#reportFailure);
    return thread;
  }
}

type Reader = { thread: ReaderThread; database: ThreadDatabase };

/** A database that the threads of a pool read. */
class PooledDatabase {
  readonly #pool: Pick<ReaderPool, 'thread' | 'size'>;
  readonly #options: ReadingOptions;
  readonly #readers: Reader[] = [];
  #adding: Promise<void> | undefined;

  /** Use `ReaderPool.open`. */
  constructor(pool: Pick<ReaderPool, 'thread' | 'size'>, options: ReadingOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Returns the longest silence of a thread that has reads of this database to do (db/thread-database.ts). */
  get silentMs(): number {
    return Math.max(0, ...this.#readers.map(({ database }) => database.silentMs));
  }

  /** Starts the first thread, unless the pool has none. */
  async start(): Promise<void> {
    if (this.#pool.size > 0 && this.#readers.length === 0) await this.#addReader();
  }

  /** Runs a read in the thread that has the least to do. */
  async run(operation: string, input: unknown): Promise<unknown> {
    if (this.#readers.length === 0) await this.#addReader();
    // Reads wait for each other when no other thread can start.
    else if (this.#isCrowded()) await this.#addReader().catch(() => {});
    const leastBusy = this.#readers.reduce((best, reader) =>
      reader.thread.pending < best.thread.pending ? reader : best,
    );
    return leastBusy.database.run(operation, input);
  }

  async close(): Promise<void> {
    await this.#adding?.catch(() => {});
    await Promise.all(this.#readers.map(({ database }) => database.close()));
  }

  #isCrowded(): boolean {
    return (
      this.#readers.length < this.#pool.size &&
      this.#readers.every(({ thread }) => thread.lagMs >= LONG_READ_MS)
    );
  }

  /** Opens the database in another thread. Calls share one that is being opened; a failure is not remembered. */
  #addReader(): Promise<void> {
    this.#adding ??= this.#openReader().finally(() => {
      this.#adding = undefined;
    });
    return this.#adding;
  }

  async #openReader(): Promise<void> {
    const thread = await this.#pool.thread(this.#readers.length);
    const { database } = await thread.open(this.#options);
    this.#readers.push({ thread, database });
  }
}
