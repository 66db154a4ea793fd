/** Puts a backup into a data directory. The files are copied beside the old ones and compared with their hashes, before they replace them. */
import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { linkOrCopy } from '../blobs/files.ts';
import { flushPath } from '../db/flush-files.ts';
import { BackupError, type BackupFacts, contentHashOf, readFacts } from './format.ts';
import { rememberRestore } from './last-restore.ts';
import { type Placed, type Placing, placeRestored, removeStaging, withDataDirectory } from './place.ts';
import { hashFile, isInside, readSums, type Sum } from './sums.ts';
import { openBackup } from './unpack.ts';
import { requireSums } from './verify.ts';

/** Files without which a data directory cannot be opened. */
const REQUIRED = ['postrider.db', 'installation.json', 'master.key'];
/** Number of files that are copied at the same time. */
const CONCURRENT_COPIES = 4;

export type Restored = Placed & {
  dataDir: string;
  facts: BackupFacts;
};

type Restoring = Placing & {
  backup: string;
  /** Secret keys, which an encrypted backup needs. */
  identities: readonly string[];
};

/**
 * Restores a backup into the data directory of the configuration. No daemon may run there.
 * @throws BackupError when the backup is damaged; LockedError; errors of the file system and of opening the database
 */
export async function restoreBackup(restoring: Restoring): Promise<Restored> {
  const { backup, config, now } = restoring;
  const { dataDir } = config;
  const facts = readFacts(backup);
  await requireUnchangedSums(backup, facts);
  return withDataDirectory(dataDir, async () => {
    const placed = await placeRestored(restoring, {
      collect: (staging) => collectFiles(restoring, staging),
      abandon: removeStaging,
      staying: [],
    });
    const { takenAt, version } = facts;
    rememberRestore(dataDir, { backup, restoredAt: now, takenAt, version, ...placed });
    return { dataDir, facts, ...placed };
  });
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

/** Puts a file of a backup into its place among the restored ones. */
type Take = (from: string, to: string, path: string) => Promise<void>;

const takeFile: Take = (from, to, path) =>
  contentHashOf(path) !== undefined ? linkOrCopy(from, to) : copyFile(from, to, constants.COPYFILE_FICLONE);

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
