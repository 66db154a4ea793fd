/** Describes storage failures to the operator: the file, what is wrong with it, and what to do. */
import { basename, dirname } from 'node:path';
import { errorCode, errorMessage } from '../system/errors.ts';

/** File name of the lock of a data directory (db/lock.ts). */
export const LOCK_FILE = 'lock.db';

/**
 * Returns one line of advice, or undefined when the error is not about storage.
 *
 * @param file the database file, or the file beside it that the error is about
 */
export function adviseOnStorage(error: unknown, file: string): string | undefined {
  const code = errorCode(error) ?? '';
  const message = errorMessage(error);
  if (basename(file) === LOCK_FILE && /^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return `${file} is damaged (${code}). It holds nothing but a lock: delete it and start again`;
  }
  if (/^SQLITE_NOTADB/.test(code)) {
    return `${file} is not a database: its header is damaged, or another program has written to it (${code}). Move it away and put a backup in its place`;
  }
  if (/^SQLITE_CORRUPT/.test(code)) {
    return `${file} is damaged (${code}: ${message}). Stop the daemon, keep a copy of ${dirname(file)}, check the disk, and put a backup in its place; "sqlite3 ${file} .recover" may save what no backup has`;
  }
  if (code === 'EDQUOT') {
    return `the disk quota of ${dirname(file)} is used up (${code}). Raise the quota or free some space`;
  }
  if (/^(ENOSPC|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)$/.test(code)) {
    return `the disk of ${dirname(file)} is full (${code}). Free some space, then start again`;
  }
  if (/^SQLITE_READONLY/.test(code)) {
    return `${file} cannot be written (${code}: ${message}). It, its -wal and -shm files, and their directory must be writable for the user the daemon runs as: see chown and chmod`;
  }
  if (/^(EIO|SQLITE_IOERR)/.test(code)) {
    return `reading or writing ${file} failed (${code}: ${message}). Check the disk (dmesg, smartctl) and whether it is mounted read-only before you start again`;
  }
  return undefined;
}

/**
 * Returns the file that an error names, if it names one: Node sets `path`, the lock of the data directory sets `file`.
 */
export function fileOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('file' in error && typeof error.file === 'string') return error.file;
  return 'path' in error && typeof error.path === 'string' ? error.path : undefined;
}
