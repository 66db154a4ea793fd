/**
 * The form of a backup: a folder with the files of the data directory under their own names, the list of their hashes
 * (sums.ts), and `backup.json`. That file is written last, so a folder without it is not a backup. An encrypted backup has one
 * file in their place: the encrypted archive of such a folder (pack.ts).
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Config } from '../config/config.ts';
import { readInstallationFile } from '../db/installation/file.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { isoTime } from '../system/clock.ts';
import { errorCode } from '../system/errors.ts';

/** Names of the files that a backup has besides those of the data directory. */
export const FACTS_FILE = 'backup.json';
export const SUMS_FILE = 'SHA256SUMS';
/** Name of the archive in an encrypted backup. */
export const ARCHIVE_FILE = 'backup.tar.age';
/** Numbers of the forms. A program reads the forms that it knows. */
export const FORMAT = 1;
export const ENCRYPTED_FORMAT = 2;

const PREFIX = 'postrider-';
const NAME = /^postrider-\d{8}T\d{6}Z$/;

const factsSchema = Type.Object({
  format: Type.Integer(),
  /** Version of the program that made the backup, which can open it. */
  version: Type.String(),
  /** Id of the installation (db/installation/file.ts). */
  installation: Type.String(),
  /** Time of the state that the backup has, in Unix milliseconds. */
  takenAt: Type.Integer(),
  /** Time that it took, in milliseconds. */
  tookMs: Type.Integer(),
  files: Type.Integer(),
  bytes: Type.Integer(),
  mailboxes: Type.Integer(),
  /** Ids of mailboxes that were damaged already. Their files are copied as they were. */
  damagedMailboxes: Type.Array(Type.String()),
  /** Public keys for which the backup is encrypted; absent unless it is. */
  recipients: Type.Optional(Type.Array(Type.String())),
  /** SHA-256 of the list of hashes. */
  sums: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

/** Facts about a backup that are known without reading its files. */
export type BackupFacts = {
  format: number;
  version: string;
  installation: string;
  takenAt: number;
  tookMs: number;
  files: number;
  bytes: number;
  mailboxes: number;
  damagedMailboxes: string[];
  recipients?: string[];
  sums: string;
};

export type FoundBackup = { name: string; path: string; facts: BackupFacts };

/** Reports that a backup cannot be used, in a message for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Returns the folder of the backups. */
export function backupFolder({ backup, dataDir }: Pick<Config, 'backup' | 'dataDir'>): string {
  return backup.folder === '' ? join(dataDir, 'backups') : backup.folder;
}

/** Returns the beginning of the names of unfinished backups of an installation. Others may share its folder. */
export function partialPrefix(installation: string): string {
  return `partial-${installation}-`;
}

/** Returns the name of a backup that is begun now. */
export function backupName(now: number): string {
  return `${PREFIX}${isoTime(now).replace(/\.\d+/, '').replaceAll(/[-:]/g, '')}`;
}

/**
 * Reads what is known of a backup.
 * @throws BackupError when the folder is no complete backup, or has a form that this program does not know
 */
export function readFacts(path: string): BackupFacts {
  let facts: unknown;
  try {
    facts = JSON.parse(readFileSync(join(path, FACTS_FILE), 'utf8'));
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    throw new BackupError(
      isMissing
        ? `${path} is not a complete backup: it has no ${FACTS_FILE}`
        : `${path}: ${FACTS_FILE} is damaged`,
      { cause: error },
    );
  }
  if (!Value.Check(factsSchema, facts)) throw new BackupError(`${path}: ${FACTS_FILE} is damaged`);
  if (facts.format !== FORMAT && !isEncrypted(facts))
    throw new BackupError(
      `${path} has the form ${facts.format}, which this version does not know: use ${facts.version} or a later version`,
    );
  return facts;
}

/** Returns true when the files of a backup are in an encrypted archive. */
export function isEncrypted({ format }: Pick<BackupFacts, 'format'>): boolean {
  return format === ENCRYPTED_FORMAT;
}

/** Lists the complete backups of a folder, the oldest first. */
export async function listBackups(folder: string): Promise<FoundBackup[]> {
  const names = (await namesIn(folder)).filter((name) => NAME.test(name)).sort();
  return names.flatMap((name) => {
    const path = join(folder, name);
    try {
      return [{ name, path, facts: readFacts(path) }];
    } catch (error) {
      if (error instanceof BackupError) return [];
      throw error;
    }
  });
}

/**
 * Lists the backups of the installation in a data directory, the oldest first, and those of all installations when the directory has
 * none: others may have their backups in the same folder.
 */
export async function listOwnBackups(dataDir: string, folder: string): Promise<FoundBackup[]> {
  const found = await listBackups(folder);
  const installation = readInstallationFile(dataDir)?.id;
  return found.filter(({ facts }) => installation === undefined || facts.installation === installation);
}

/**
 * Returns the path of the newest backup of an installation.
 * @throws BackupError when there is none, or when the data directory does not say of which installation
 */
export async function newestBackup(dataDir: string, folder: string): Promise<string> {
  const found = await listOwnBackups(dataDir, folder);
  const newest = found.at(-1);
  if (!newest) throw new BackupError(`there is no backup of this installation in ${folder}`);
  if (found.some(({ facts }) => facts.installation !== newest.facts.installation))
    throw new BackupError(`${folder} has backups of several installations: give the path of one`);
  return newest.path;
}

/** Matches the path of a file whose name is its hash. */
const CONTENT_ADDRESSED = /(?:^|\/)blobs\/[0-9a-f]{2}\/([0-9a-f]{64})$/;

/** Returns the SHA-256 in the path of a file whose name is its hash, so that nobody changes it; undefined for any other. */
export function contentHashOf(path: string): string | undefined {
  return CONTENT_ADDRESSED.exec(path)?.[1];
}

/** Returns true for the name of a folder in `mailboxes/` that is the account of a mailbox. */
export function isMailboxId(name: string): name is MailboxRow['id'] {
  return name.startsWith('mbx_');
}

/** Returns the names in a folder; none when it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
