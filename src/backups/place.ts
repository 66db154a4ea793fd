/**
 * Puts restored data into a data directory. The data is collected beside the old one, opened and marked as restored, and only then
 * the old one is replaced (db/installation/replace.ts). Until that moment the old data stays as it is, whatever fails.
 */
import { rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { flushDirectory, flushPath } from '../db/flush-files.ts';
import { finishReplacement, replaceContent, stagingFolder } from '../db/installation/replace.ts';
import { recordRestored } from '../db/installation/store.ts';
import { lockDirectory } from '../db/lock.ts';
import { recordRestoration } from '../mailboxes/store.ts';
import type { CrashPoint } from '../system/crash-point.ts';
import { makeDirectories } from '../system/make-directories.ts';
import { BackupError, backupFolder } from './format.ts';

export type Placing = {
  config: Config;
  now: number;
  /** Opens the application of a data directory. */
  open(config: Config): Promise<App & AsyncDisposable>;
  crashPoint: CrashPoint;
};

/** How the data comes to the folder in which it is collected, which does not exist, and what becomes of it after an error. */
type Collecting = {
  collect(staging: string): Promise<void>;
  abandon(staging: string): void;
  /** Names in the data directory that stay, besides the folders of backups. */
  staying: readonly string[];
};

export type Placed = {
  /** Number of mailboxes whose folders get new UIDVALIDITYs when they are next opened. */
  mailboxes: number;
  /** Folder with the data that was there; null when there was none. */
  replaced: string | null;
};

/**
 * Runs work while no daemon can use the data directory, which is made when it does not exist. A replacement that was begun is
 * completed first.
 * @throws BackupError when the directory belongs to another user; LockedError; errors of the file system
 */
export async function withDataDirectory<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  makeDirectories(dataDir, 0o700);
  requireOwner(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    finishReplacement(dataDir);
    return await work();
  } finally {
    lock.release();
  }
}

/** The daemon must be able to read and write what is restored. */
function requireOwner(dataDir: string): void {
  const { uid } = statSync(dataDir);
  if (process.getuid === undefined || uid === process.getuid()) return;
  throw new BackupError(`${dataDir} belongs to another user (${uid}): restore as that user`);
}

/** Removes what was collected. */
export function removeStaging(staging: string): void {
  rmSync(staging, { recursive: true, force: true });
}

/**
 * Collects data, marks it as restored, and replaces the content of the data directory by it. It runs within `withDataDirectory`.
 * @throws errors of collecting, of opening the database, and of the file system
 */
export async function placeRestored(
  placing: Placing,
  { collect, abandon, staying }: Collecting,
): Promise<Placed> {
  const { config, now, crashPoint } = placing;
  const { dataDir } = config;
  const staging = stagingFolder(dataDir);
  removeStaging(staging);
  let mailboxes: number;
  try {
    await collect(staging);
    crashPoint('restore-copied');
    mailboxes = await markRestored(placing, staging);
    await flushTree(staging);
    crashPoint('restore-marked');
  } catch (error) {
    abandon(staging);
    throw error;
  }
  const own = relative(dataDir, backupFolder(config)).split('/', 1).join('');
  const replaced = replaceContent(dataDir, {
    staying: ['backups', own, ...staying],
    now,
    crashPoint: () => crashPoint('restore-replacing'),
  });
  return { mailboxes, replaced: replaced ?? null };
}

/** Opens the restored database, which also migrates it, and records that nothing may leave. */
async function markRestored({ config, now, open }: Placing, staging: string): Promise<number> {
  await using app = await open({ ...config, dataDir: staging });
  await app.db.commit(recordRestored, { now });
  return app.db.commit(recordRestoration, null);
}

/** Flushes all files of a folder but those whose names are their hashes, which were flushed when they were made. */
export async function flushTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await flushTree(path);
    else if (!/^[0-9a-f]{64}$/.test(basename(path))) flushPath(path);
  }
  await flushDirectory(folder);
}
