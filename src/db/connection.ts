/** Opens SQLite connections. Every pragma is set explicitly, and the one that durability depends on is read back. */
import Sqlite, { type Database, type Options, type Statement } from 'better-sqlite3';
import { errorCode } from '../system/errors.ts';
import { isDiskFull, recogniseQuota } from './storage-failure.ts';

export type Synchronous = 'FULL' | 'NORMAL';

const BUSY_TIMEOUT_MS = 5_000;
/**
 * Maximum size of the page cache of each connection, in KiB. better-sqlite3 is compiled to let each grow to 16,000. The pages
 * are in the cache of the system too, from which they are copied in microseconds.
 */
const MAX_CACHE_KIB = 2_048;
/** Length of the WAL, in pages of 4 KiB, at which the writer copies it back: 16 MiB. */
export const CHECKPOINT_PAGES = 4_000;

const SYNCHRONOUS_LEVEL = { NORMAL: 1, FULL: 2 } as const satisfies Record<Synchronous, number>;

/**
 * Opens the writing connection, in WAL mode and without automatic checkpoints.
 * @throws Error of SQLite
 */
export function openWriting(file: string, synchronous: Synchronous): Database {
  return openAs(file, { timeout: BUSY_TIMEOUT_MS }, (database) => {
    // Only a new database takes this setting (db/free-pages.ts). In any other it would be a write.
    if (database.pragma('page_count', { simple: true }) === 0) database.pragma('auto_vacuum = INCREMENTAL');
    database.pragma('journal_mode = WAL');
    setCommonPragmas(database, synchronous);
    database.pragma('wal_autocheckpoint = 0');
  });
}

/**
 * Maximum size of the page cache of a connection that a thread has for itself, in KiB. Hundreds are open at once.
 */
const MAX_PRIVATE_CACHE_KIB = 256;

/**
 * Opens the only connection of a database, in WAL mode and without automatic checkpoints. The lock is kept, so the state of
 * the WAL is in memory instead of a `-shm` file: that saves a descriptor and 150 KiB. Nothing waits for another process.
 *
 * @throws Error of SQLite; SQLITE_BUSY when another process has opened the database
 */
export function openPrivate(file: string): Database {
  return openAs(file, { timeout: 0 }, (database) => {
    // This pragma comes before the first access, which would create the `-shm` file.
    database.pragma('locking_mode = EXCLUSIVE');
    if (database.pragma('page_count', { simple: true }) === 0) database.pragma('auto_vacuum = INCREMENTAL');
    database.pragma('journal_mode = WAL');
    setCommonPragmas(database, 'FULL');
    database.pragma('wal_autocheckpoint = 0');
    database.pragma(`cache_size = -${MAX_PRIVATE_CACHE_KIB}`);
  });
}

/**
 * Opens a connection and sets it up. When that fails, for example because no file descriptor is left for the WAL, the connection is
 * closed: it may hold the lock of the file already, and nobody could open the database again.
 */
function openAs(file: string, options: Options, setUp: (database: Database) => void): Database {
  const database = new Sqlite(file, options);
  try {
    setUp(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Number of the frames that are in use, and of those of them that were copied back. */
export type WalState = { log: number; checkpointed: number };

type CheckpointOptions = {
  /** Is called right before a checkpoint. */
  before?(): void;
  /** Is called only when everything was copied back and flushed. */
  after?(): void;
  /** State of the WAL, where the caller has it. */
  wal?: WalState | undefined;
};

/**
 * Copies the WAL back into the database once it has `pages` pages, as far as readers allow. A full disk is not an
 * error: the WAL stays and is copied back later. Returns the number of pages that have not been copied back, as long as they are
 * too few.
 */
export function checkpointWhenLong(
  database: Database,
  pages = CHECKPOINT_PAGES,
  { before, after, wal = askWalState(database) }: CheckpointOptions = {},
): number {
  const waiting = wal ? wal.log - wal.checkpointed : 0;
  if (waiting < pages) return waiting;
  try {
    before?.();
    const [state] = database.pragma('wal_checkpoint(PASSIVE)') as (WalState & { busy: number })[];
    if (state?.busy === 0 && state.log === state.checkpointed) after?.();
  } catch (error) {
    const failure = recogniseQuota(error, database.name);
    if (!isDiskFull(errorCode(failure) ?? '')) throw failure;
  }
  return 0;
}

/** Prepared statements by connection. */
const walStates = new WeakMap<Database, Statement<[], WalState>>();

/** Returns the state of the WAL; undefined while there is none. The answer costs as much as a small write. */
export function askWalState(database: Database): WalState | undefined {
  const known = walStates.get(database);
  const statement = known ?? database.prepare<[], WalState>('PRAGMA wal_checkpoint(NOOP)');
  if (!known) walStates.set(database, statement);
  return statement.get();
}

/**
 * Opens a connection that can only read.
 * @throws Error of SQLite
 */
export function openReading(file: string): Database {
  return openAs(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS }, (database) => {
    setCommonPragmas(database, 'FULL');
    database.pragma('query_only = ON');
  });
}

/**
 * Sets the pragmas of every connection. better-sqlite3 is compiled to leave WAL commits unflushed, so the synchronous
 * level is set and checked.
 */
function setCommonPragmas(database: Database, synchronous: Synchronous): void {
  database.pragma(`synchronous = ${synchronous}`);
  if (database.pragma('synchronous', { simple: true }) !== SYNCHRONOUS_LEVEL[synchronous]) {
    throw new Error(`SQLite did not take synchronous=${synchronous}`);
  }
  database.pragma('foreign_keys = ON');
  database.pragma('trusted_schema = OFF');
  database.pragma('cell_size_check = ON');
  database.pragma('mmap_size = 0');
  // A negative number is a size in KiB.
  database.pragma(`cache_size = -${MAX_CACHE_KIB}`);
  // Savepoint journals and sorts stay in memory. In files they were half of all bytes written, and could fail on a
  // full disk.
  database.pragma('temp_store = MEMORY');
}
