/**
 * Which of SQLite's errors are refusals, and which end the process. After one failed flush it may answer ok to commits
 * that are lost, so nothing more is acknowledged.
 */
import { writeSync } from 'node:fs';
import { AppError, errorCode, errorMessage } from '../system/errors.ts';

/**
 * What SQLite answers on a full disk in WAL mode: SQLITE_FULL where the WAL or the database cannot grow (ENOSPC),
 * SQLITE_IOERR_SHMSIZE where the `-shm` file cannot, every 4,096 pages of WAL. Neither has lost anything: the first wrote
 * nothing that counts, and the second is a file made anew from the WAL, tried only after the WAL was flushed. (So what it
 * refuses may be there after a crash, as after an answer that was lost on its way.) A quota that is used up (EDQUOT) is
 * SQLITE_IOERR_WRITE, which nothing tells from a disk that failed.
 */
const DISK_FULL: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']);

export function isDiskFull(code: string): boolean {
  return DISK_FULL.has(code);
}

/** EIO is what a file beside the database fails with: the same disk, and as little to be trusted after it. */
export function isBrokenStorage(code: string): boolean {
  return !isDiskFull(code) && /^(EIO|SQLITE_(IOERR|CORRUPT|NOTADB)(_.*)?)$/.test(code);
}

/** Without a word to anybody who waits for an answer. */
export function endOnBrokenStorage(error: unknown): void {
  const code = errorCode(error) ?? '';
  if (!isBrokenStorage(code)) return;
  writeSync(2, `${JSON.stringify({ level: 60, code, msg: `storage failed: ${errorMessage(error)}` })}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** What passes by itself or with an operator's help is "come back later"; everything else stays what it was. */
export function asRefusal(error: unknown): unknown {
  const code = errorCode(error) ?? '';
  if (isDiskFull(code)) {
    return new AppError('unavailable', 'The disk is full', { cause: error, retryAfterSeconds: 30 });
  }
  if (code === 'SQLITE_BUSY') {
    return new AppError('unavailable', 'The database is locked', { cause: error, retryAfterSeconds: 5 });
  }
  return error;
}
