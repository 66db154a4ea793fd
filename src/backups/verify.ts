/**
 * Verifies a backup: every file against its hash, the structure of every database, and that messages have their files. Without a
 * secret key, an encrypted backup is verified as far as its archive is the one that was written.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findStructuralDamage } from '../accounts/check-store.ts';
import { pathOf } from '../blobs/files.ts';
import { blobFolder } from '../blobs/owner.ts';
import { openReading } from '../db/connection.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { eachFileHash } from './copied-database.ts';
import { type BackupFacts, isEncrypted, readFacts, SUMS_FILE } from './format.ts';
import { hashFile, isInside, readSums, type Sum } from './sums.ts';
import { openBackup, type Unpacking } from './unpack.ts';

/** Maximum number of problems that are shown. */
const MAX_FINDINGS = 100;

export type Finding = { path: string; problem: string };

export type Verified = {
  facts: BackupFacts;
  findings: Finding[];
  /** False for an encrypted backup that was not opened, so that its content is not verified. */
  isOpened: boolean;
};

/**
 * Verifies a backup. It is undamaged when there are no findings.
 * @throws BackupError when the folder is no complete backup, or no identity opens it
 */
export async function verifyBackup(backup: string, unpacking?: Unpacking): Promise<Verified> {
  const facts = readFacts(backup);
  if (!isEncrypted(facts)) return { facts, findings: await verifyFiles(backup, facts), isOpened: true };
  const { findings } = await compareSums(backup, facts);
  if (findings.length > 0 || unpacking === undefined) return { facts, findings, isOpened: false };
  await using opened = await openBackup(backup, unpacking);
  return { facts, findings: await verifyFiles(opened.folder, opened.facts), isOpened: true };
}

async function verifyFiles(backup: string, facts: BackupFacts): Promise<Finding[]> {
  const { findings, unchanged, note } = await compareSums(backup, facts);
  if (unchanged === undefined) return findings;
  const sound = unchanged.filter((path) => {
    const damage = structuralDamage(join(backup, path));
    for (const problem of damage) note(path, problem);
    return damage.length === 0;
  });
  if (sound.includes('postrider.db')) await noteMissingFiles(backup, note);
  else if (!unchanged.includes('postrider.db')) note('postrider.db', 'it is missing or damaged');
  return findings;
}

type Compared = {
  findings: Finding[];
  /** Paths of the databases whose bytes are those that were written; undefined when the list of hashes was changed. */
  unchanged: string[] | undefined;
  note: (path: string, problem: string) => void;
};

/** Compares each file with its hash. */
async function compareSums(backup: string, facts: BackupFacts): Promise<Compared> {
  const findings: Finding[] = [];
  const note = (path: string, problem: string) => {
    if (findings.length < MAX_FINDINGS) findings.push({ path, problem });
  };
  const changed = await requireSums(backup, facts);
  if (changed !== undefined) {
    note(SUMS_FILE, changed);
    return { findings, unchanged: undefined, note };
  }
  const unchanged: string[] = [];
  for await (const sum of readSums(backup)) {
    const problem = await problemOf(backup, sum);
    if (problem !== undefined) note(sum.path, problem);
    else if (isDatabase(sum.path, facts)) unchanged.push(sum.path);
  }
  return { findings, unchanged, note };
}

async function noteMissingFiles(
  backup: string,
  note: (path: string, problem: string) => void,
): Promise<void> {
  const files = blobFolder(backup);
  for await (const sha256 of eachFileHash(join(backup, 'postrider.db')))
    if (!existsSync(pathOf(files, sha256)))
      note(pathOf('blobs', sha256), 'a message names it, and it is missing');
}

/** Returns why the list of hashes cannot be believed; undefined when it is the one that was written. */
export async function requireSums(backup: string, { sums }: BackupFacts): Promise<string | undefined> {
  try {
    return (await hashFile(join(backup, SUMS_FILE))) === sums ? undefined : 'it was changed';
  } catch (error) {
    return `it cannot be read (${errorMessage(error)})`;
  }
}

async function problemOf(backup: string, { sha256, path }: Sum): Promise<string | undefined> {
  if (!isInside(path)) return `${SUMS_FILE} has a line that is none`;
  try {
    return (await hashFile(join(backup, path))) === sha256 ? undefined : 'its bytes were changed';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'it is missing' : `it cannot be read (${errorMessage(error)})`;
  }
}

/** The databases of mailboxes that were damaged when the backup was made are not opened. */
function isDatabase(path: string, { damagedMailboxes }: BackupFacts): boolean {
  if (path === 'postrider.db') return true;
  return basename(path) === 'index.db' && !damagedMailboxes.some((id) => path.startsWith(`mailboxes/${id}/`));
}

function structuralDamage(file: string): string[] {
  if (statSync(file).size === 0) return ['it is empty'];
  try {
    const connection = openReading(file);
    try {
      return findStructuralDamage(connection, { isQuick: true });
    } finally {
      connection.close();
    }
  } catch (error) {
    return [`it cannot be opened (${errorMessage(error)})`];
  }
}
