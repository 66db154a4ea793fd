/** One process per data directory. The lock is an open transaction, which the kernel frees even on kill -9. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { errorCode } from '../system/errors.ts';

export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/** @throws LockedError when another process holds the directory */
export function lockDirectory(directory: string): { release(): void } {
  const database = new Sqlite(join(directory, 'lock.db'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (errorCode(error) !== 'SQLITE_BUSY') throw error;
    throw new LockedError(`another Postrider process is using ${directory}`, { cause: error });
  }
  return { release: () => database.close() };
}
