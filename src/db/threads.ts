/** Threads that serve databases together: one that writes, and some that run long reads. */
import type { Clock } from '../system/clock.ts';
import { ReaderPool } from './reader-pool.ts';
import { DatabaseThread } from './thread.ts';
import type { ThreadOptions } from './thread-messages.ts';

export type DatabaseThreads = {
  readonly writer: DatabaseThread<'writer-thread'>;
  readonly readers: ReaderPool;
  /** Resolves, with the reason, only if a thread ends without having been closed. */
  readonly failed: Promise<Error>;
  /** Closes the databases that are still open, and ends the threads. */
  close(): Promise<void>;
};

/** Starts the threads. `readers` is the number of concurrent long reads. */
export async function startDatabaseThreads(
  clock: Pick<Clock, 'elapsed'>,
  options: ThreadOptions & { readers: number },
): Promise<DatabaseThreads> {
  const { readers: size, ...shared } = options;
  const writer = await DatabaseThread.start(clock, 'writer-thread', shared);
  const readers = new ReaderPool(clock, shared, size);
  return {
    writer,
    readers,
    failed: Promise.race([writer.failed, readers.failed]),
    async close() {
      await readers.close();
      await writer.close();
    },
  };
}
