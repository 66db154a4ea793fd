/**
 * The reader threads. They start on request or at the first long read, so a command that needs none does not wait for
 * them. Each thread opens every database that is read in the pool.
 */
import type { Clock } from '../system/clock.ts';
import { DatabaseThread } from './thread.ts';
import type { ThreadDatabase } from './thread-database.ts';
import type { ReadingOptions, ThreadOptions } from './thread-messages.ts';

/** Number of reader threads of the daemon, and so of concurrent long reads. */
export const READER_THREADS = 2;

type ReaderThread = DatabaseThread<'reader-thread'>;

export class ReaderPool {
  /** Resolves, with the reason, only if a reader ends without having been closed. */
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #startThread: () => Promise<ReaderThread>;
  readonly #size: number;
  #threads: Promise<ReaderThread[]> | undefined;

  constructor(clock: Pick<Clock, 'elapsed'>, options: ThreadOptions, size: number) {
    this.#startThread = () => DatabaseThread.start(clock, 'reader-thread', options);
    this.#size = size;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
  }

  /** Returns a database for long reads. Nothing is opened before the first of them. */
  open(options: ReadingOptions): PooledDatabase {
    return new PooledDatabase(() => this.#started(), options);
  }

  async close(): Promise<void> {
    const threads = (await this.#threads?.catch(() => [])) ?? [];
    await Promise.all(threads.map((thread) => thread.close()));
  }

  /**
   * Starts the threads once. A failed start, for instance for lack of file descriptors, is not remembered: the next
   * read tries again.
   */
  #started(): Promise<ReaderThread[]> {
    this.#threads ??= this.#start().catch((error) => {
      this.#threads = undefined;
      throw error;
    });
    return this.#threads;
  }

  async #start(): Promise<ReaderThread[]> {
    const threads = await allOrNone(
      Array.from({ length: this.#size }, () => this.#startThread()),
      (thread) => thread.close(),
    );
    for (const thread of threads) void thread.failed.then(this.#reportFailure);
    return threads;
  }
}

type Reader = { thread: ReaderThread; database: ThreadDatabase };

/** A database that the threads of a pool read. */
class PooledDatabase {
  readonly #startThreads: () => Promise<ReaderThread[]>;
  readonly #options: ReadingOptions;
  #readers: Promise<Reader[]> | undefined;
  #opened: readonly Reader[] = [];

  /** Use `ReaderPool.open`. */
  constructor(startThreads: () => Promise<ReaderThread[]>, options: ReadingOptions) {
    this.#startThreads = startThreads;
    this.#options = options;
  }

  /** Returns the longest silence of a thread that has reads of this database to do (db/thread-database.ts). */
  get silentMs(): number {
    return Math.max(0, ...this.#opened.map(({ database }) => database.silentMs));
  }

  /** Opens the database in every thread. */
  async start(): Promise<void> {
    await this.#started();
  }

  /** Runs a read in the thread that has the least to do. */
  async run(operation: string, input: unknown): Promise<unknown> {
    const readers = await this.#started();
    const leastBusy = readers.reduce((best, reader) =>
      reader.thread.pending < best.thread.pending ? reader : best,
    );
    return leastBusy.database.run(operation, input);
  }

  async close(): Promise<void> {
    const readers = (await this.#readers?.catch(() => [])) ?? [];
    await Promise.all(readers.map(({ database }) => database.close()));
  }

  /** Opens the database once. A failure is not remembered: the next read tries again. */
  #started(): Promise<Reader[]> {
    this.#readers ??= this.#open().catch((error) => {
      this.#readers = undefined;
      throw error;
    });
    return this.#readers;
  }

  async #open(): Promise<Reader[]> {
    const threads = await this.#startThreads();
    const opens = threads.map(async (thread) => ({ thread, ...(await thread.open(this.#options)) }));
    this.#opened = await allOrNone(opens, ({ database }) => database.close());
    return [...this.#opened];
  }
}

/** Resolves with every value. When a promise rejects, the values of the others are closed and its reason is thrown. */
async function allOrNone<Value>(
  promises: readonly Promise<Value>[],
  close: (value: Value) => Promise<void>,
): Promise<Value[]> {
  const ends = await Promise.allSettled(promises);
  const values = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const failure = ends.find((end) => end.status === 'rejected');
  if (!failure) return values;
  await Promise.all(values.map(close));
  throw failure.reason;
}
