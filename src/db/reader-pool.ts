/**
 * The reader threads. They start on request or at the first long read, so a command that needs none does not wait for
 * them.
 */
import type { Clock } from '../system/clock.ts';
import { DatabaseThread } from './thread.ts';
import type { ReaderOptions } from './thread-messages.ts';
import { threadModule } from './thread-module.ts';

/** Number of reader threads of the daemon, and so of concurrent long reads. */
export const READER_THREADS = 2;

export class ReaderPool {
  /** Resolves, with the reason, only if a reader ends without having been closed. */
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #options: ReaderOptions;
  readonly #size: number;
  #threads: Promise<DatabaseThread[]> | undefined;
  #running: readonly DatabaseThread[] = [];

  constructor(clock: Pick<Clock, 'elapsed'>, options: ReaderOptions, size: number) {
    this.#clock = clock;
    this.#options = options;
    this.#size = size;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
  }

  /** Returns the longest silence of a reader that has reads to do (db/thread.ts). */
  get silentMs(): number {
    return Math.max(0, ...this.#running.map(({ silentMs }) => silentMs));
  }

  async start(): Promise<void> {
    await this.#started();
  }

  async run(operation: string, input: unknown): Promise<unknown> {
    const threads = await this.#started();
    const leastBusy = threads.reduce((best, thread) => (thread.pending < best.pending ? thread : best));
    return leastBusy.run(operation, input);
  }

  async close(): Promise<void> {
    const threads = (await this.#threads?.catch(() => [])) ?? [];
    await Promise.all(threads.map((thread) => thread.close()));
  }

  /**
   * Starts the threads once. A failed start, for instance for lack of file descriptors, is not remembered: the next
   * read tries again.
   */
  #started(): Promise<DatabaseThread[]> {
    this.#threads ??= this.#start().catch((error) => {
      this.#threads = undefined;
      throw error;
    });
    return this.#threads;
  }

  async #start(): Promise<DatabaseThread[]> {
    const starts = await Promise.allSettled(
      Array.from({ length: this.#size }, () =>
        DatabaseThread.start(this.#clock, threadModule('reader-thread'), this.#options),
      ),
    );
    const threads = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const failure = starts.find((start) => start.status === 'rejected');
    if (failure) {
      await Promise.all(threads.map((thread) => thread.close()));
      throw failure.reason;
    }
    for (const thread of threads) void thread.failed.then(this.#reportFailure);
    this.#running = threads;
    return threads;
  }
}
