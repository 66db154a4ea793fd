/**
 * Migrates a copy of a database, so that an operator knows before an upgrade whether its migrations succeed and how long each takes.
 * The database itself is only read, also while a daemon of another version writes to it.
 */
import { constants, existsSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { System } from '../system/system.ts';
import { openReading, openWriting } from './connection.ts';
import { LockedError, lockDirectory } from './lock.ts';
import { migrate, type Schema } from './migrate.ts';
import { openScratchFolder } from './scratch-folder.ts';

/** Reports why migrations were not tried. The database is unchanged. */
export class RehearsalError extends Error {
  override readonly name = 'RehearsalError';
}

export type Rehearsal = {
  /** Size of the copy, in bytes. */
  bytes: number;
  /** Time of the copy, in milliseconds. The daemon may run meanwhile. */
  copyMs: number;
  /** Each migration that this version applies, in order, with its time. */
  migrations: { id: string; tookMs: number }[];
  /** Time of all migrations until they are on disk, in milliseconds. The daemon accepts nothing in this time. */
  migrationMs: number;
};

type Rehearsing = {
  /** Data directory, whose `postrider.db` is copied. */
  directory: string;
  /** Directory of the copy, which exists. */
  scratchIn: string;
  schema: Schema;
};

/** Number of pages of 4 KiB that are copied at once. */
const PAGES_PER_STEP = 4_096;
/** A migration may write the whole database anew into the WAL, and from there into the file. */
const SIZES_NEEDED = 3;
/** Space that stays free, so that the disk is not filled to the last byte. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
const BYTES_PER_MEGABYTE = 1024 * 1024;

/**
 * Copies the database into a scratch folder, migrates the copy and removes it.
 * @throws RehearsalError, SchemaVersionError, errors of SQLite and of the file system
 */
export async function rehearseMigrations(
  { clock, statDisk }: Pick<System, 'clock' | 'statDisk'>,
  { directory, scratchIn, schema }: Rehearsing,
): Promise<Rehearsal> {
  const file = join(directory, 'postrider.db');
  if (!existsSync(file)) throw new RehearsalError(`${file} does not exist: there is nothing to migrate`);
  await using scratch = await openScratchFolder(scratchIn);
  await requireSpace(statDisk, scratchIn, sizeOf(file) + sizeOf(`${file}-wal`));
  const copy = join(scratch.path, 'postrider.db');
  const beganAt = clock.elapsed();
  await copyUnchanged(file, copy);
  const copiedAt = clock.elapsed();
  const database = openWriting(copy, 'FULL');
  try {
    const bytes = sizeOf(copy);
    const migrations: Rehearsal['migrations'] = [];
    const openedAt = clock.elapsed();
    const observe = (id: string, apply: () => void) => {
      const startedAt = clock.elapsed();
      apply();
      migrations.push({ id, tookMs: clock.elapsed() - startedAt });
    };
    migrate(database, clock.now(), { ...schema, observe });
    database.pragma('wal_checkpoint(TRUNCATE)');
    const migrationMs = clock.elapsed() - openedAt;
    return { bytes, copyMs: copiedAt - beganAt, migrations, migrationMs };
  } finally {
    database.close();
  }
}

/** Copies the files when no daemon has them open, and otherwise with SQLite, in the state of one moment. */
async function copyUnchanged(file: string, copy: string): Promise<void> {
  let lock: { release(): void };
  try {
    lock = lockDirectory(dirname(file));
  } catch (error) {
    if (error instanceof LockedError) return copyWhileInUse(file, copy);
    throw error;
  }
  try {
    for (const end of ['', '-wal'])
      if (existsSync(`${file}${end}`))
        await copyFile(`${file}${end}`, `${copy}${end}`, constants.COPYFILE_FICLONE);
  } finally {
    lock.release();
  }
}

async function copyWhileInUse(file: string, copy: string): Promise<void> {
  const connection = openReading(file);
  try {
    // A transaction keeps its state of the database, so that a change by the daemon does not make the copy begin anew.
    connection.exec('BEGIN');
    connection.prepare('SELECT count(*) FROM sqlite_schema').get();
    await connection.backup(copy, { progress: () => PAGES_PER_STEP });
  } finally {
    connection.close();
  }
}

async function requireSpace(statDisk: System['statDisk'], folder: string, bytes: number): Promise<void> {
  const neededBytes = bytes * SIZES_NEEDED + MIN_FREE_BYTES;
  const { freeBytes } = await statDisk(folder);
  if (freeBytes >= neededBytes) return;
  const inMegabytes = (size: number) => `${Math.ceil(size / BYTES_PER_MEGABYTE)} MB`;
  throw new RehearsalError(
    `trying the migrations on a copy needs ${inMegabytes(neededBytes)} in ${folder}, but ${inMegabytes(freeBytes)} are free: free some space, or choose another directory (--dir)`,
  );
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
