/**
 * Rewrites the main database without its free pages, into a new file that takes the place of the old one. The old file
 * is not changed before that, so a crash at any time leaves one whole database. Afterwards free pages can be given back
 * while the database is in use (db/free-pages.ts), which databases of early versions cannot do.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import type { System } from '../system/system.ts';
import { copyOwnerAndMode } from '../system/write-flushed.ts';
import { openWriting } from './connection.ts';
import { flushPath } from './flush-files.ts';
import { lockDirectory } from './lock.ts';

/** Sizes of the database file, in bytes. */
export type Compaction = { beforeBytes: number; afterBytes: number };

/** Reports why a database was not compacted. It is unchanged. */
export class CompactionError extends Error {
  override readonly name = 'CompactionError';
}

/** Space that stays free beside the new file, so that the disk is not filled to the last byte. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/**
 * Compacts the database of a data directory that no daemon uses. The caller has opened and closed it before, so that
 * everything is in the file itself and the stop is recorded as a clean one.
 * @throws LockedError, CompactionError, errors of SQLite and of the file system
 */
export async function compactDatabase(
  system: Pick<System, 'statDisk' | 'crashPoint'>,
  directory: string,
): Promise<Compaction> {
  const lock = lockDirectory(directory);
  try {
    const file = join(directory, 'postrider.db');
    const compacted = `${file}.compacted`;
    const beforeBytes = statSync(file).size;
    // A compaction that a crash ended has left its file behind.
    for (const path of [compacted, `${compacted}-journal`]) rmSync(path, { force: true });
    await writeCompacted(system, file, compacted);
    system.crashPoint('compact-before-rename');
    renameSync(compacted, file);
    flushPath(directory);
    return { beforeBytes, afterBytes: statSync(file).size };
  } finally {
    lock.release();
  }
}

/** Writes the new file completely, checks it, and flushes it. */
async function writeCompacted(
  { statDisk }: Pick<System, 'statDisk'>,
  file: string,
  compacted: string,
): Promise<void> {
  const database = openWriting(file, 'FULL');
  let generation: unknown;
  try {
    await requireSpace(database, dirname(file), statDisk);
    generation = database.pragma('user_version', { simple: true });
    database.pragma('auto_vacuum = INCREMENTAL');
    database.prepare('VACUUM INTO ?').run(compacted);
  } finally {
    database.close();
  }
  if (existsSync(`${file}-wal`))
    throw new CompactionError(
      `another program has ${file} open: close it, such as a backup or the sqlite3 shell, and try again`,
    );
  requireSound(compacted, generation);
  copyOwnerAndMode(file, compacted);
  flushPath(compacted);
}

async function requireSpace(
  database: Database,
  directory: string,
  statDisk: System['statDisk'],
): Promise<void> {
  const [pages, free, pageBytes] = ['page_count', 'freelist_count', 'page_size'].map((name) =>
    Number(database.pragma(name, { simple: true })),
  ) as [number, number, number];
  const neededBytes = (pages - free) * pageBytes + MIN_FREE_BYTES;
  const { freeBytes } = await statDisk(directory);
  if (freeBytes >= neededBytes) return;
  throw new CompactionError(
    `compacting writes a second file: it needs ${showMegabytes(neededBytes)} of free space in ${directory}, and ${showMegabytes(freeBytes)} are free`,
  );
}

/**
 * Checks the new file before it takes the place of the old one: its pages, and the stamp of its installation.
 * @throws CompactionError, errors of SQLite
 */
export function requireSound(compacted: string, generation: unknown): void {
  const database = new Sqlite(compacted, { readonly: true, fileMustExist: true });
  try {
    const found = database.pragma('quick_check(1)', { simple: true });
    if (found !== 'ok') throw new CompactionError(`the new file ${compacted} is damaged: ${found}`);
    if (database.pragma('user_version', { simple: true }) !== generation)
      throw new CompactionError(`the new file ${compacted} is not of the same generation`);
  } finally {
    database.close();
  }
}

/** Returns a size in words, such as `812.5 MB`. */
export function showMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
