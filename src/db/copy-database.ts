/**
 * Copies a database while it is in use, with SQLite's backup API on the connection that writes. SQLite then writes each later
 * change into the copy too, so the copy never begins anew, and no snapshot keeps the WAL from being copied back. The copy has the
 * state of the moment in which it is complete.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Database } from 'better-sqlite3';
import { realClock, sleep } from '../system/clock.ts';
import { errorCode } from '../system/errors.ts';

/** Number of pages of 4 KiB that are copied at once: 256 KiB take a fraction of a millisecond. */
const PAGES_PER_STEP = 64;
/**
 * Maximum number of pages that are written and not flushed: 8 MiB. A commit waits for the disk behind them, and the last step
 * flushes what is left in the thread that writes.
 */
const MAX_UNFLUSHED_PAGES = 2_048;
/** Maximum time that a step waits for the flush, in milliseconds. Commits of the database wait as long. */
const FLUSH_WAIT_MS = 1;
/** Maximum number of beginnings of a copy. A transaction that is open at that moment keeps it from beginning. */
const MAX_BEGINNINGS = 1_000;
/** Time between two flushes, in milliseconds, in which a small copy makes progress. */
const FLUSH_PAUSE_MS = 5;

const [WRITTEN, FLUSHED, CANCELED] = [0, 1, 2] as const;

/** Keeps the thread that copies and the one that flushes at the same pace. Both see the same memory. */
export class CopyPace {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory);
  }

  /** Number of pages that were copied. */
  get writtenPages(): number {
    return Atomics.load(this.#numbers, WRITTEN);
  }

  setFlushed(pages: number): void {
    Atomics.store(this.#numbers, FLUSHED, pages);
  }

  /** Ends the copy with an error at its next step. */
  cancel(): void {
    Atomics.store(this.#numbers, CANCELED, 1);
  }

  /**
   * Returns the number of pages that are copied next.
   * @throws Error after `cancel`
   */
  next(writtenPages: number): number {
    if (Atomics.load(this.#numbers, CANCELED) === 1) throw new Error('the copy was canceled');
    Atomics.store(this.#numbers, WRITTEN, writtenPages);
    const flushed = Atomics.load(this.#numbers, FLUSHED);
    if (writtenPages - flushed < MAX_UNFLUSHED_PAGES) return PAGES_PER_STEP;
    Atomics.wait(this.#numbers, FLUSHED, flushed, FLUSH_WAIT_MS);
    return 0;
  }
}

/**
 * Copies the database of a connection to a file that does not exist. It runs in the thread of the connection, in short steps
 * between which the thread does its other work. Another thread calls `flushCopy` meanwhile.
 * @throws errors of SQLite about either file; Error when the copy was canceled
 */
export async function copyDatabase(connection: Database, file: string, pace: CopyPace): Promise<void> {
  for (let beginning = 0; beginning < MAX_BEGINNINGS; beginning++)
    if (await copyOnce(connection, file, pace)) return;
  throw new Error('the database was never free to be copied');
}

/** Is thrown to end a complete copy, which better-sqlite3 does not recognise. */
const COMPLETE = Symbol('complete');

/** Returns false when a transaction was open. */
async function copyOnce(connection: Database, file: string, pace: CopyPace): Promise<boolean> {
  try {
    const { totalPages } = await connection.backup(file, {
      progress({ totalPages: total, remainingPages }) {
        // A database that became smaller ends before the next page, so that fewer than none remain. SQLite has ended the copy then.
        if (remainingPages < 0) throw COMPLETE;
        return pace.next(total - remainingPages);
      },
    });
    return totalPages > 0;
  } catch (error) {
    if (error === COMPLETE) return true;
    throw error;
  }
}

/** Flushes a copy while it is made, and once more when it is complete. Rejects with the error of the copy. */
export async function flushCopy(file: string, pace: CopyPace, copying: Promise<void>): Promise<void> {
  const ended = copying.then(
    () => true,
    () => true,
  );
  let handle: FileHandle | undefined;
  try {
    for (let isEnded = false; !isEnded; ) {
      isEnded = await Promise.race([ended, sleep(realClock, FLUSH_PAUSE_MS).then(() => false)]);
      handle ??= await openIfExists(file);
      const written = pace.writtenPages;
      await handle?.datasync();
      pace.setFlushed(written);
    }
  } catch (error) {
    pace.cancel();
    await ended;
    throw error;
  } finally {
    await handle?.close();
  }
  await copying;
}

async function openIfExists(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Offset of the read and write versions in the header of a database (SQLite file format, 1.3). */
const VERSIONS_AT = 18;
/** Versions of a database that has no WAL. */
const WITHOUT_WAL = Buffer.from([1, 1]);

/**
 * Marks a complete copy as a database without a WAL, so that it can be read where nothing can be written. Whoever opens it as a
 * database of the daemon turns the WAL on again.
 */
export function markWithoutWal(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, WITHOUT_WAL, 0, WITHOUT_WAL.length, VERSIONS_AT);
  } finally {
    closeSync(descriptor);
  }
}
