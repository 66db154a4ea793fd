/**
 * Ensures one process per data directory. The lock is an open transaction, which the kernel frees even after kill -9.
 */
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { errorCode } from '../system/errors.ts';
import { LOCK_FILE } from './storage-advice.ts';

export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Locks a data directory until `release`.
 * @throws LockedError when another process holds it; SQLite's own error, with `file`, when the lock cannot be opened
 */
export function lockDirectory(directory: string): { release(): void } {
  const file = join(directory, LOCK_FILE);
  let database: Database | undefined;
  try {
    database = new Sqlite(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    if (errorCode(error) !== 'SQLITE_BUSY')
      throw error instanceof Error ? Object.assign(error, { file }) : error;
    throw new LockedError(`another Postrider process is using ${directory}`, { cause: error });
  }
  const locked = database;
  return { release: () => locked.close() };
}
