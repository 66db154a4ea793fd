/** The reader threads, started at the first long read: a command that asks for none does not wait for them. */
import type { Clock } from '../system/clock.ts';
import { DatabaseThread } from './thread.ts';
import type { ReaderOptions } from './thread-messages.ts';
import { threadModule } from './thread-module.ts';

export class ReaderPool {
  /** Resolves, with the reason, only if a reader ends without having been closed. */
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #options: ReaderOptions;
  readonly #size: number;
  #threads: Promise<DatabaseThread[]> | undefined;

  constructor(clock: Pick<Clock, 'elapsed'>, options: ReaderOptions, size: number) {
    this.#clock = clock;
    this.#options = options;
    this.#size = size;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
  }

  async run(operation: string, input: unknown): Promise<unknown> {
    this.#threads ??= this.#start();
    const threads = await this.#threads;
    const leastBusy = threads.reduce((best, thread) => (thread.pending < best.pending ? thread : best));
    return leastBusy.run(operation, input);
  }

  async close(): Promise<void> {
    const threads = (await this.#threads) ?? [];
    await Promise.all(threads.map((thread) => thread.close()));
  }

  async #start(): Promise<DatabaseThread[]> {
    const threads = await Promise.all(
      Array.from({ length: this.#size }, () =>
        DatabaseThread.start(this.#clock, threadModule('reader-thread'), this.#options),
      ),
    );
    for (const thread of threads) void thread.failed.then(this.#reportFailure);
    return threads;
  }
}
