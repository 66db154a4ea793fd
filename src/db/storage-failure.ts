/**
 * Classifies the errors of SQLite and of the file system. A refusal is certain: no change of the write can appear
 * later. A failed disk ends the process at once, because after one failed flush SQLite may report success for commits
 * that are lost. A COMMIT with an unknown outcome ends the process too: neither success nor failure would be a true
 * answer.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError, errorCode, errorMessage } from '../system/errors.ts';
import { adviseOnStorage } from './storage-advice.ts';

/**
 * Codes of a full disk. SQLITE_FULL: the WAL or the database cannot grow (ENOSPC). SQLITE_IOERR_SHMSIZE: the `-shm`
 * file cannot grow, which it does every 4,096 pages of WAL. EDQUOT: a quota is used up (see `recogniseQuota`).
 */
const DISK_FULL: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT']);

/** Returns true when the code means that the disk or a quota is full. */
export function isDiskFull(code: string): boolean {
  return DISK_FULL.has(code);
}

/** Returns true for a disk that failed. EIO is the code with which the same disk fails a file beside the database. */
export function isBrokenStorage(code: string): boolean {
  return !isDiskFull(code) && /^(EIO|SQLITE_IOERR(_.*)?)$/.test(code);
}

/** Returns true when the content of the database file is damaged although the disk works. */
export function isDamagedDatabase(code: string): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)(_.*)?$/.test(code);
}

/**
 * Returns true when a COMMIT that failed with this code has certainly changed nothing. SQLite writes the frames of a
 * transaction into the WAL, the committing frame last, then flushes the WAL, then grows `-shm`. An error while a frame
 * is written (SQLITE_FULL, EDQUOT) comes before the commit. A failed flush, or a `-shm` that cannot grow
 * (SQLITE_IOERR_SHMSIZE), comes after it, and the next start may find the transaction committed.
 */
export function isRolledBackCommit(code: string): boolean {
  return /^(SQLITE_FULL|EDQUOT|SQLITE_(BUSY|CONSTRAINT)(_.*)?)$/.test(code);
}

/**
 * Ends the process when the disk has failed. Callers that wait get no answer.
 *
 * @param file the file that was written
 */
export function endOnBrokenStorage(error: unknown, file: string): void {
  if (isBrokenStorage(errorCode(error) ?? '')) endProcess(error, file);
}

/** Ends the process unless it is certain that the failed COMMIT has changed nothing. */
export function endOnUnknownOutcome(error: unknown, file: string): void {
  if (!isRolledBackCommit(errorCode(error) ?? '')) endProcess(error, file);
}

/** Ends the process: after a flush that failed, nobody knows whether the commits before it are on disk. */
export function endOnFailedFlush(error: unknown, file: string): void {
  endProcess(error, file);
}

function endProcess(error: unknown, file: string): void {
  const advice = adviseOnStorage(error, file) ?? errorMessage(error);
  const line = { level: 'fatal', code: errorCode(error), msg: `storage failed: ${advice}`, file };
  writeSync(2, `${JSON.stringify(line)}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** Size of the probe: it must not fit into the space that a quota leaves in the last blocks of a file. */
const PROBE_BYTES = 64 * 1024;

/**
 * Returns an error with the code EDQUOT when a used-up quota caused `error`. SQLite does not expose the errno and
 * reports a quota as SQLITE_IOERR_WRITE, like a failed disk; writing a small file beside the database tells the two
 * apart.
 */
export function recogniseQuota(error: unknown, file: string, write = writeProbe): unknown {
  if (errorCode(error) !== 'SQLITE_IOERR_WRITE') return error;
  try {
    write(dirname(file));
    return error;
  } catch (probed) {
    if (!['EDQUOT', 'ENOSPC'].includes(errorCode(probed) ?? '')) return error;
    return Object.assign(new Error(errorMessage(probed), { cause: error }), { code: 'EDQUOT' });
  }
}

function writeProbe(directory: string): void {
  const path = join(directory, `.space-probe-${randomUUID()}`);
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    writeSync(descriptor, Buffer.alloc(PROBE_BYTES));
  } finally {
    closeSync(descriptor);
    rmSync(path, { force: true });
  }
}

/**
 * Turns an error that ends by itself or with an operator's help into a refusal that asks the caller to retry. Any other
 * error is returned unchanged.
 */
export function asRefusal(error: unknown): unknown {
  const code = errorCode(error) ?? '';
  if (isDiskFull(code)) {
    return new AppError('unavailable', 'The disk is full', {
      cause: error,
      shortage: 'disk',
      retryAfterSeconds: 30,
    });
  }
  if (code === 'SQLITE_BUSY') {
    return new AppError('unavailable', 'The database is locked', { cause: error, retryAfterSeconds: 5 });
  }
  return error;
}

/**
 * Codes of the file system and of SQLite for problems that end by themselves or that an operator can repair. Background
 * work is retried after them.
 */
const PASSING =
  /^(EACCES|EAGAIN|EBUSY|EDQUOT|EINTR|EIO|EMFILE|ENFILE|ENOMEM|ENOSPC|EPERM|EROFS|ESTALE|ETIMEDOUT|SQLITE_(BUSY|CANTOPEN|FULL|INTERRUPT|IOERR|LOCKED|NOMEM|PROTOCOL|READONLY)(_.*)?)$/;

/** True when the same work may succeed later without a change to the work itself. */
export function mayPass(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'unavailable' || error.code === 'interrupted';
  return PASSING.test(errorCode(error) ?? '');
}
