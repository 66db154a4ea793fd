/** Opens SQLite connections with every pragma said explicitly, and reads back the one that durability hangs on. */
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import { errorCode } from '../system/errors.ts';
import { isDiskFull, recogniseQuota } from './storage-failure.ts';

export type Synchronous = 'FULL' | 'NORMAL';

const BUSY_TIMEOUT_MS = 5_000;
/** Pages of 4 KiB; 16 MiB of WAL before the writer copies it back (engine.md 4). */
export const CHECKPOINT_PAGES = 4_000;

const SYNCHRONOUS_LEVEL = { NORMAL: 1, FULL: 2 } as const satisfies Record<Synchronous, number>;

export function openWriting(file: string, synchronous: Synchronous): Database {
  const database = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  setCommonPragmas(database, synchronous);
  database.pragma('wal_autocheckpoint = 0');
  return database;
}

type WalState = { log: number; checkpointed: number };

/** Work around a checkpoint: `after` runs only when everything was copied back and flushed. */
export type CheckpointSteps = { before(): void; after(): void };

/**
 * Copies the WAL back into the database once it is long, as far as readers allow. A full disk is no failure: the WAL
 * stands and is copied later.
 */
export function checkpointWhenLong(
  database: Database,
  pages = CHECKPOINT_PAGES,
  steps?: CheckpointSteps,
): void {
  const wal = askWalState(database);
  if (!wal || wal.log - wal.checkpointed < pages) return;
  try {
    steps?.before();
    const [state] = database.pragma('wal_checkpoint(PASSIVE)') as (WalState & { busy: number })[];
    if (state?.busy === 0 && state.log === state.checkpointed) steps?.after();
  } catch (error) {
    const failure = recogniseQuota(error, database.name);
    if (!isDiskFull(errorCode(failure) ?? '')) throw failure;
  }
}

/** Asked after every commit, so prepared once for a connection. */
const walStates = new WeakMap<Database, Statement<[], WalState>>();

function askWalState(database: Database): WalState | undefined {
  const known = walStates.get(database);
  const statement = known ?? database.prepare<[], WalState>('PRAGMA wal_checkpoint(NOOP)');
  if (!known) walStates.set(database, statement);
  return statement.get();
}

export function openReading(file: string): Database {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  setCommonPragmas(database, 'FULL');
  database.pragma('query_only = ON');
  return database;
}

/** better-sqlite3 is compiled to leave WAL commits unflushed, so the level is set and checked on every connection. */
function setCommonPragmas(database: Database, synchronous: Synchronous): void {
  database.pragma(`synchronous = ${synchronous}`);
  if (database.pragma('synchronous', { simple: true }) !== SYNCHRONOUS_LEVEL[synchronous]) {
    throw new Error(`SQLite did not take synchronous=${synchronous}`);
  }
  database.pragma('foreign_keys = ON');
  database.pragma('trusted_schema = OFF');
  database.pragma('cell_size_check = ON');
  database.pragma('mmap_size = 0');
  // Savepoint journals and sorts: as files they were half of all bytes written, and could fail where the disk is full.
  database.pragma('temp_store = MEMORY');
}
