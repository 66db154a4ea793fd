/**
 * A database for the rest of the program: `commit` runs a named write, `commitInBackground` one whose result nobody
 * needs, `read` is for short queries on this thread, and `query` runs long ones on a reader thread. Readers only ever
 * see what is on disk. The threads may serve other databases too.
 */
import type { System } from '../system/system.ts';
import type { Wakeups } from '../system/wakeups.ts';
import { type Access, writesTo } from './access.ts';
import type { CollectedPages } from './changed-pages.ts';
import { openReading } from './connection.ts';
import { kyselyOn } from './dialect.ts';
import type { StartedInstallation } from './installation/session.ts';
import type { Read } from './operation.ts';
import type { TableChanges } from './table-changes.ts';
import type { Tables } from './tables.ts';
import type { ThreadConnection } from './thread-access.ts';
import type { WritingOptions } from './thread-messages.ts';
import type { DatabaseThreads } from './threads.ts';

export type Database<Schema> = Access<Schema> & {
  /** Starts the reader threads before the first long read, which otherwise waits for them. */
  startReader(): Promise<void>;
  /** Runs a long read on a reader thread. */
  query<Input, Result>(read: Read<Input, Result, Schema>, input: Input): Promise<Result>;
  /** Resolves, with the reason, only if the database cannot be used any more although it was not closed. */
  readonly failed: Promise<Error>;
  /** Number of writes of all threads that are not yet durable. */
  readonly pendingWrites: number;
  /** Approximate size of the inputs of these writes, in bytes (db/input-bytes.ts). */
  readonly pendingBytes: number;
  /** Age of the oldest pending write of this thread, in milliseconds; 0 when there is none. */
  readonly lagMs: number;
  /** Time in milliseconds for which the writer thread has answered nothing although writes wait; 0 when none waits. */
  readonly writerSilentMs: number;
  /**
   * Time in milliseconds for which a reader thread has answered nothing although reads wait; the longest of all
   * readers.
   */
  readonly readerSilentMs: number;
  /** Opens a connection for another thread, which calls `openFromThread` with it (db/thread-access.ts). */
  connectThread(): ThreadConnection;
  /**
   * Copies the database to a file that does not exist, while it is in use. The copy has a state that the database has had since
   * the call, and is on disk when this resolves.
   * @throws errors of SQLite and of the file system, which leave the database as it is
   */
  copyTo(file: string): Promise<void>;
  /**
   * Begins to gather the pages that change, or ends that. Each beginning forgets what was gathered before: the caller copies the
   * database after it.
   */
  followPages(isFollowed?: boolean): Promise<void>;
  /**
   * Returns the pages that commits have changed since the last call, at least by those that were answered before this call.
   */
  collectPages(): Promise<CollectedPages>;
  close(): Promise<void>;
};

/** The main database. The process ends when it cannot be used any more (`failed`), rather than refuse everything. */
export type Db = Database<Tables> & {
  /** The identity of this database, and what the start found out about it and its data directory. */
  readonly installation: StartedInstallation;
  /** Counts the changes of tables, so that answers can be kept in memory (db/answer-cache.ts). */
  readonly changes: Pick<TableChanges, 'count' | 'memory'>;
};

type DatabaseOptions = Omit<WritingOptions, 'nowMs'> & {
  /** Called for each write of any thread that is refused because the disk is full. */
  onDiskFull?: (() => void) | undefined;
  /** Called for each wake-up that a write has asked for (db/commit-wakeups.ts). */
  onWakeup?: Wakeups['notify'] | undefined;
};

/** An open database. `installation` is undefined unless the options ask for it. */
type Opened<Schema> = { database: Database<Schema>; installation: StartedInstallation | undefined };

/**
 * Opens a database in the threads, creates it when it is new, and migrates it. `Schema` is the type of its tables.
 * @throws DataDirectoryError, SchemaVersionError, errors of SQLite
 */
export async function openDatabase<Schema>(
  system: Pick<System, 'clock' | 'log'>,
  threads: DatabaseThreads,
  { onDiskFull, onWakeup, ...options }: DatabaseOptions,
): Promise<Opened<Schema>> {
  const opened = await threads.writer.open({ ...options, nowMs: system.clock.now() });
  const writer = opened.database;
  if (onDiskFull) writer.onDiskFull = onDiskFull;
  if (onWakeup) writer.onWakeup = onWakeup;
  const readers = threads.readers.open({ file: options.file });
  const connection = openReading(options.file);
  const database: Database<Schema> = {
    read: kyselyOn<Schema>(connection),
    failed: Promise.race([writer.failed, threads.failed]),
    get pendingWrites() {
      return writer.totalPending;
    },
    get pendingBytes() {
      return writer.totalPendingBytes;
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
    ...writesTo<Schema>(writer, system.log),
    connectThread: () => ({ file: options.file, ...writer.connect() }),
    startReader: () => readers.start(),
    query: <Input, Result>(read: Read<Input, Result, Schema>, input: Input) =>
      readers.run(read.name, input) as Promise<Result>,
    copyTo: (file) => writer.copyTo(file),
    followPages: (isFollowed = true) => writer.followPages(isFollowed),
    collectPages: () => writer.collectPages(),
    async close() {
      await readers.close();
      connection.close();
      await writer.close();
    },
  };
  return { database, installation: opened.found as StartedInstallation | undefined };
}
