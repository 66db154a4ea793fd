/**
 * The database for the rest of the program: `commit` runs a named write, `commitInBackground` one whose result nobody
 * needs, `read` is for short queries on this thread, and `query` runs long ones on a reader thread. Readers only ever
 * see what is on disk.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Kysely } from 'kysely';
import type { System } from '../system/system.ts';
import { openReading, type Synchronous } from './connection.ts';
import { kyselyOn } from './dialect.ts';
import { reportInstallation } from './installation/report.ts';
import type { StartedInstallation } from './installation/session.ts';
import { lockDirectory } from './lock.ts';
import type { Read, Write } from './operation.ts';
import { ReaderPool } from './reader-pool.ts';
import type { Tables } from './tables.ts';
import { DatabaseThread } from './thread.ts';
import type { ReaderOptions, WriterOptions } from './thread-messages.ts';
import { threadModule } from './thread-module.ts';

export type Db = {
  /** Runs the write in the writer thread; resolves with its result when it is durable, rejects with its refusal. */
  commit<Input, Result>(write: Write<Input, Result>, input: Input): Promise<Result>;
  /** Runs a write whose loss is acceptable, such as last-used times and counters. A failure is logged. */
  commitInBackground<Input>(write: Write<Input, unknown>, input: Input): void;
  /** Short reads on the main thread: a few rows by an index. */
  readonly read: Kysely<Tables>;
  /** Starts the reader threads before the first long read, which otherwise waits for them. */
  startReaders(): Promise<void>;
  /** Runs a long read on a reader thread. */
  query<Input, Result>(read: Read<Input, Result>, input: Input): Promise<Result>;
  /** Resolves only if a database thread dies: the process cannot go on, and must end rather than refuse everything. */
  readonly failed: Promise<Error>;
  /** Number of writes that are not yet durable. */
  readonly pendingWrites: number;
  /** Approximate size of the inputs of pending writes, in bytes (db/input-bytes.ts). */
  readonly pendingBytes: number;
  /** Age of the oldest pending write, in milliseconds; 0 when there is none. */
  readonly lagMs: number;
  /** The identity of this database, and what the start found out about it and its data directory. */
  readonly installation: StartedInstallation;
  /** Time in milliseconds for which the writer thread has answered nothing although writes wait; 0 when none waits. */
  readonly writerSilentMs: number;
  /**
   * Time in milliseconds for which a reader thread has answered nothing although reads wait; the longest of all
   * readers.
   */
  readonly readerSilentMs: number;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  /** Data directory. It is created with mode 0700 when it does not exist. */
  directory: string;
  operationsModule: URL;
  synchronous: Synchronous;
  readers: number;
  crashAt: WriterOptions['crashAt'];
  /** Creates a database in a data directory that is in use and has none. Without it such a start is refused. */
  newDatabase?: boolean;
  /** Called for each write that is refused because the disk is full. */
  onDiskFull?: () => void;
};

/**
 * Opens the database of a data directory, creates it when it is new, and migrates it.
 * @throws LockedError, DataDirectoryError, NewerSchemaError
 */
export async function openDatabase(
  system: Pick<System, 'clock' | 'log'>,
  options: DatabaseOptions,
): Promise<Db> {
  const directory = resolve(options.directory);
  mkdirSync(directory, { recursive: true });
  // An existing directory gets this mode too: mail and keys are readable only by the user that the daemon runs as.
  chmodSync(directory, 0o700);
  const lock = lockDirectory(directory);
  try {
    const file = join(directory, 'postrider.db');
    const shared: ReaderOptions = { file, operationsModule: options.operationsModule.href };
    const writer = await DatabaseThread.start(system.clock, threadModule('writer-thread'), {
      ...shared,
      synchronous: options.synchronous,
      nowMs: system.clock.now(),
      newDatabase: options.newDatabase ?? false,
      crashAt: options.crashAt,
    } satisfies WriterOptions);
    const installation = writer.greeting as StartedInstallation;
    reportInstallation(system.log, installation);
    if (options.onDiskFull) writer.onDiskFull = options.onDiskFull;
    const readers = new ReaderPool(system.clock, shared, options.readers);
    const connection = openReading(file);
    return {
      installation,
      read: kyselyOn(connection),
      failed: Promise.race([writer.failed, readers.failed]),
      get pendingWrites() {
        return writer.pending;
      },
      get pendingBytes() {
        return writer.pendingBytes;
      },
      get lagMs() {
        return writer.lagMs;
      },
      get writerSilentMs() {
        return writer.silentMs;
      },
      get readerSilentMs() {
        return readers.silentMs;
      },
      commit: <Input, Result>(write: Write<Input, Result>, input: Input) =>
        writer.run(write.name, input) as Promise<Result>,
      commitInBackground: (write, input) => {
        writer
          .run(write.name, input)
          .catch((error) => system.log.warn({ err: error, write: write.name }, 'note was lost'));
      },
      startReaders: () => readers.start(),
      query: <Input, Result>(read: Read<Input, Result>, input: Input) =>
        readers.run(read.name, input) as Promise<Result>,
      async close() {
        await readers.close();
        connection.close();
        await writer.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
