/** Verifies a backup: every file against its hash, the structure of every database, and that messages have their files. */
import { existsSync, statSync } from 'node:fs';
import { basename, join, normalize } from 'node:path';
import { findStructuralDamage } from '../accounts/check-store.ts';
import { pathOf } from '../blobs/files.ts';
import { blobFolder } from '../blobs/owner.ts';
import { openReading } from '../db/connection.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { eachFileHash } from './copied-database.ts';
import { type BackupFacts, readFacts, SUMS_FILE } from './format.ts';
import { hashFile, readSums, type Sum } from './sums.ts';

/** Maximum number of problems that are shown. */
const MAX_FINDINGS = 100;

export type Finding = { path: string; problem: string };

export type Verified = { facts: BackupFacts; findings: Finding[] };

/**
 * Verifies a backup. It is undamaged when there are no findings.
 * @throws BackupError when the folder is no complete backup
 */
export async function verifyBackup(backup: string): Promise<Verified> {
  const facts = readFacts(backup);
  const findings: Finding[] = [];
  const note = (path: string, problem: string) => {
    if (findings.length < MAX_FINDINGS) findings.push({ path, problem });
  };
  const sums = await requireSums(backup, facts);
  if (sums !== undefined) return { facts, findings: [{ path: SUMS_FILE, problem: sums }] };
  const databases: string[] = [];
  for await (const sum of readSums(backup)) {
    const problem = await problemOf(backup, sum);
    if (problem !== undefined) note(sum.path, problem);
    else if (isDatabase(sum.path, facts)) databases.push(sum.path);
  }
  const sound = databases.filter((path) => {
    const damage = structuralDamage(join(backup, path));
    for (const problem of damage) note(path, problem);
    return damage.length === 0;
  });
  if (sound.includes('postrider.db')) await noteMissingFiles(backup, note);
  else if (!databases.includes('postrider.db')) note('postrider.db', 'it is missing or damaged');
  return { facts, findings };
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

/** Returns true for a path that stays below the folder of the backup. */
export function isInside(path: string): boolean {
  return path !== '' && !path.startsWith('/') && normalize(path) === path && !path.split('/').includes('..');
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
