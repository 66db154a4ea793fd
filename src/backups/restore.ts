/**
 * Puts a backup into a data directory. The files are copied beside the old ones and compared with their hashes, the copied
 * database is opened and marked as restored, and only then the old files are replaced (db/installation/replace.ts). Until
 * that moment the old data stays as it is, whatever fails.
 */
import { constants, existsSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { App } from '../app.ts';
import { linkOrCopy } from '../blobs/files.ts';
import type { Config } from '../config/config.ts';
import { flushDirectory, flushPath } from '../db/flush-files.ts';
import { finishReplacement, replaceContent, stagingFolder } from '../db/installation/replace.ts';
import { recordRestored } from '../db/installation/store.ts';
import { lockDirectory } from '../db/lock.ts';
import { recordRestoration } from '../mailboxes/store.ts';
import type { CrashPoint } from '../system/crash-point.ts';
import { makeDirectories } from '../system/make-directories.ts';
import { BackupError, type BackupFacts, backupFolder, readFacts } from './format.ts';
import { writeLastRestore } from './last-restore.ts';
import { hashFile, isInside, readSums, type Sum } from './sums.ts';
import { openBackup } from './unpack.ts';
import { requireSums } from './verify.ts';

/** Files without which a data directory cannot be opened. */
const REQUIRED = ['postrider.db', 'installation.json', 'master.key'];
/** Number of files that are copied at the same time. */
const CONCURRENT_COPIES = 4;
/** Matches the path of a file whose name is its hash. Nobody changes such a file, so it may be linked. */
const CONTENT_ADDRESSED = /(?:^|\/)blobs\/[0-9a-f]{2}\/[0-9a-f]{64}$/;

export type Restored = {
  dataDir: string;
  facts: BackupFacts;
  /** Number of mailboxes whose folders get new UIDVALIDITYs when they are next opened. */
  mailboxes: number;
  /** Folder with the data that was there; null when there was none. */
  replaced: string | null;
};

type Restoring = {
  backup: string;
  /** Secret keys, which an encrypted backup needs. */
  identities: readonly string[];
  config: Config;
  now: number;
  /** Opens the application of a data directory. */
  open(config: Config): Promise<App & AsyncDisposable>;
  crashPoint: CrashPoint;
};

/**
 * Restores a backup into the data directory of the configuration. No daemon may run there.
 * @throws BackupError when the backup is damaged; LockedError; errors of the file system and of opening the database
 */
export async function restoreBackup(restoring: Restoring): Promise<Restored> {
  const { backup, config, now, crashPoint } = restoring;
  const { dataDir } = config;
  const facts = readFacts(backup);
  await requireUnchangedSums(backup, facts);
  makeDirectories(dataDir, 0o700);
  requireOwner(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    finishReplacement(dataDir);
    const mailboxes = await stage(restoring);
    const own = relative(dataDir, backupFolder(config)).split('/', 1).join('');
    const replaced = replaceContent(dataDir, {
      staying: ['backups', own],
      now,
      crashPoint: () => crashPoint('restore-replacing'),
    });
    const restored = { dataDir, facts, mailboxes, replaced: replaced ?? null };
    remember(restored, { backup, now });
    return restored;
  } finally {
    lock.release();
  }
}

/** Notes what was done, for those who look at the restored installation later. Nothing depends on it. */
function remember({ dataDir, facts, mailboxes, replaced }: Restored, from: { backup: string; now: number }) {
  const { takenAt, version } = facts;
  const done = { backup: from.backup, restoredAt: from.now, takenAt, version, mailboxes, replaced };
  try {
    writeLastRestore(dataDir, done);
  } catch {
    // The restoration is complete, also when the disk has no space for this note.
  }
}

/** Collects the restored data beside the old one, marked as restored. After an error nothing of it stays. */
async function stage(restoring: Restoring): Promise<number> {
  const { config, now, open, crashPoint } = restoring;
  const staging = stagingFolder(config.dataDir);
  rmSync(staging, { recursive: true, force: true });
  try {
    await collectFiles(restoring, staging);
    crashPoint('restore-copied');
    const mailboxes = await markRestored({ staging, config, now, open });
    await flushTree(staging);
    crashPoint('restore-marked');
    return mailboxes;
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

async function collectFiles({ backup, identities, config }: Restoring, staging: string): Promise<void> {
  await using opened = await openBackup(backup, { identities, directory: config.dataDir });
  if (opened.isScratch) await requireUnchangedSums(opened.folder, opened.facts);
  await copyFiles(opened.folder, staging, opened.isScratch ? moveFile : takeFile);
}

async function requireUnchangedSums(backup: string, facts: BackupFacts): Promise<void> {
  const problem = await requireSums(backup, facts);
  if (problem !== undefined) throw new BackupError(`${backup} is damaged: SHA256SUMS: ${problem}`);
}

/** The daemon must be able to read and write what is restored. */
function requireOwner(dataDir: string): void {
  const { uid } = statSync(dataDir);
  if (process.getuid === undefined || uid === process.getuid()) return;
  throw new BackupError(`${dataDir} belongs to another user (${uid}): restore as that user`);
}

/** Puts a file of a backup into its place among the restored ones. */
type Take = (from: string, to: string, path: string) => Promise<void>;

const takeFile: Take = (from, to, path) =>
  CONTENT_ADDRESSED.test(path) ? linkOrCopy(from, to) : copyFile(from, to, constants.COPYFILE_FICLONE);

/** Moves a file that was unpacked, so that the disk holds it once. Nobody has flushed it. */
const moveFile: Take = async (from, to) => {
  await rename(from, to);
  flushPath(to);
};

async function copyFiles(backup: string, staging: string, take: Take): Promise<void> {
  const missing = new Set(REQUIRED);
  const running = new Set<Promise<void>>();
  await mkdir(staging, { mode: 0o700 });
  try {
    for await (const sum of readSums(backup)) {
      if (!isInside(sum.path))
        throw new BackupError(`${backup} is damaged: SHA256SUMS has a line that is none`);
      missing.delete(sum.path);
      const copying = copyChecked({ backup, staging, take }, sum).finally(() => running.delete(copying));
      running.add(copying);
      // An error is thrown below, by the next wait.
      copying.catch(() => {});
      if (running.size >= CONCURRENT_COPIES) await Promise.race(running);
    }
    await Promise.all(running);
  } finally {
    // After an error other copies still run, and would make the folder again that is about to be removed.
    await Promise.allSettled(running);
  }
  const [lost] = missing;
  if (lost !== undefined) throw new BackupError(`${backup} is damaged: it has no ${lost}`);
}

async function copyChecked(
  { backup, staging, take }: { backup: string; staging: string; take: Take },
  { path, sha256 }: Sum,
): Promise<void> {
  const from = join(backup, path);
  const to = join(staging, path);
  if (!existsSync(from)) throw new BackupError(`${backup} is damaged: ${path} is missing`);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await take(from, to, path);
  if ((await hashFile(to)) !== sha256)
    throw new BackupError(`${backup} is damaged: the bytes of ${path} were changed`);
}

/** Opens the restored database, which also migrates it, and records that nothing may leave. */
async function markRestored({
  staging,
  config,
  now,
  open,
}: Pick<Restoring, 'config' | 'now' | 'open'> & { staging: string }): Promise<number> {
  await using app = await open({ ...config, dataDir: staging });
  await app.db.commit(recordRestored, { now });
  return app.db.commit(recordRestoration, null);
}

async function flushTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await flushTree(path);
    else if (!/^[0-9a-f]{64}$/.test(basename(path))) flushPath(path);
  }
  await flushDirectory(folder);
}
