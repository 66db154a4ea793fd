/**
 * Makes a backup while the daemon runs. The main database is copied first and the mailboxes after it: a mailbox that is newer than
 * the main database has mail that is delivered to it once more and recognised, while an older one would have lost some. No file
 * of a message is removed meanwhile, so that each file that a copied row names is there when it is linked.
 */
import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type CopiedAccount, copyDamagedAccount } from '../accounts/copy.ts';
import { accountFolder, indexFile } from '../accounts/folder.ts';
import type { App } from '../app.ts';
import { linkFiles } from '../blobs/link-files.ts';
import { blobFolder } from '../blobs/owner.ts';
import { markWithoutWal } from '../db/copy-database.ts';
import { flushDirectory, flushPath } from '../db/flush-files.ts';
import {
  type InstallationFile,
  readInstallationFile,
  writeInstallationFile,
} from '../db/installation/file.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { openScratchFolder, removeStaleFolders } from '../db/scratch-folder.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { errorCode } from '../system/errors.ts';
import { makeDirectories } from '../system/make-directories.ts';
import { writeFlushed } from '../system/write-flushed.ts';
import { VERSION } from '../version.ts';
import { eachMailbox } from './copied-database.ts';
import { encryptBackup } from './encrypt.ts';
import {
  ARCHIVE_FILE,
  type BackupFacts,
  backupFolder,
  backupName,
  ENCRYPTED_FORMAT,
  FACTS_FILE,
  FORMAT,
  isMailboxId,
  namesIn,
  partialPrefix,
} from './format.ts';
import { publishBackup, removePartial } from './publish.ts';
import { isSamePath } from './same-path.ts';
import { databaseBytes, requireSpace } from './space.ts';
import { hashFile, SumsWriter } from './sums.ts';

/** Copies the account of a mailbox to a folder that does not exist, in whatever thread has it open. */
type CopyAccount = (mailbox: MailboxRow, to: string) => Promise<CopiedAccount>;

export type BackupApp = Pick<App, 'blobs' | 'clock' | 'config' | 'crashPoint' | 'db' | 'log' | 'statDisk'> & {
  copyAccount: CopyAccount;
};

export type MadeBackup = { name: string; path: string; facts: BackupFacts };

/** Names in the data directory that are no part of a backup, or that are copied in a way of their own. */
const NOT_COPIED =
  /^(?:postrider\.db(?:-.*)?|lock\.db(?:-.*)?|control\.sock|installation\.json|blobs|mailboxes|backups|standby|restore|restore\.json|restored\.json|lost\+found|replaced-.*|scratch-.*|backup-copy\.json|.*\.new)$/;

/** Returns true for a file or folder of the data directory that is copied as it is: keys, certificates, and the like. */
export function isCopiedWhole(name: string): boolean {
  return !NOT_COPIED.test(name);
}

/** A backup that is being made. */
type Making = { app: BackupApp; folder: string; staging: string; sums: SumsWriter; bytes: number };

/**
 * Makes a backup in a folder, which is encrypted when there are recipients. After an error nothing stays behind.
 * @throws AppError invalid_state when the disk has too little space; errors of SQLite and of the file system
 */
export async function createBackup(app: BackupApp, folder: string): Promise<MadeBackup> {
  const startedAt = app.clock.now();
  const elapsed = app.clock.elapsed();
  makeDirectories(folder, 0o700);
  const installation = requireInstallation(app.config.dataDir);
  await removePartial(folder, installation.id);
  await removeStaleFolders(app.config.dataDir);
  const name = backupName(startedAt);
  const staging = join(folder, `${partialPrefix(installation.id)}${name}`);
  await mkdir(staging, { mode: 0o700 });
  try {
    // A reload changes the settings while a backup is made, which takes minutes: it has the keys that it began with.
    const recipients = [...app.config.backup.recipients];
    const made = await (recipients.length === 0
      ? makePlain(app, folder, staging)
      : makeEncrypted(app, { folder, name, staging, recipients }));
    const facts = { ...made, tookMs: Math.round(app.clock.elapsed() - elapsed) };
    await flushDirectory(staging);
    writeFacts(staging, facts);
    app.crashPoint('backup-complete');
    return { ...(await publishBackup({ folder, staging, startedAt })), facts };
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

function requireInstallation(dataDir: string): InstallationFile {
  const installation = readInstallationFile(dataDir);
  if (!installation) throw new Error(`${dataDir} has no installation.json`);
  return installation;
}

function writeFacts(staging: string, facts: BackupFacts): void {
  writeFlushed(join(staging, FACTS_FILE), `${JSON.stringify(facts, null, 2)}\n`);
}

async function makePlain(app: BackupApp, folder: string, staging: string): Promise<BackupFacts> {
  await requireSpace(app, folder, await databaseBytes(app.config.dataDir));
  return app.blobs.holds.during(() => fill(app, folder, staging));
}

/**
 * Collects the files in a scratch folder in the data directory, where they are protected as the data is, and encrypts them into the
 * staging folder. The folder of the backups never has anything that is not encrypted.
 */
async function makeEncrypted(
  app: BackupApp,
  {
    folder,
    name,
    staging,
    recipients,
  }: { folder: string; name: string; staging: string; recipients: string[] },
): Promise<BackupFacts> {
  const { dataDir } = app.config;
  await using scratch = await openScratchFolder(dataDir);
  await requireSpace(app, dataDir, await databaseBytes(dataDir));
  const facts = await app.blobs.holds.during(() => fill(app, folder, scratch.path));
  writeFacts(scratch.path, facts);
  await requireSpace(app, folder, facts.bytes);
  app.crashPoint('backup-encrypting');
  const archive = {
    from: scratch.path,
    name,
    to: join(staging, ARCHIVE_FILE),
    recipients,
  };
  const sha256 = await encryptBackup(app.clock, archive);
  const sums = await SumsWriter.open(staging);
  try {
    sums.add({ sha256, path: ARCHIVE_FILE });
    return { ...facts, format: ENCRYPTED_FORMAT, recipients, sums: await sums.finish() };
  } finally {
    await sums.close();
  }
}

/** Copies or links all files into the staging folder, and writes the list of their hashes. */
async function fill(app: BackupApp, folder: string, staging: string): Promise<BackupFacts> {
  const { dataDir } = app.config;
  const startedAt = app.clock.elapsed();
  const sums = await SumsWriter.open(staging);
  const making: Making = { app, folder, staging, sums, bytes: 0 };
  try {
    // The file says which database belongs to it, and at least which generation: it is read before the database is copied.
    const installation = requireInstallation(dataDir);
    const database = join(staging, 'postrider.db');
    await app.db.copyTo(database);
    const takenAt = app.clock.now();
    markWithoutWal(database);
    flushPath(database);
    app.crashPoint('backup-database');
    await addFile(making, database);
    await linkFiles(blobFolder(dataDir), blobFolder(staging), (file) => addLinked(making, file));
    await sums.write();
    app.crashPoint('backup-files');
    const mailboxes = await copyMailboxes(making);
    await copyOthers(making);
    writeInstallationFile(staging, { ...installation, walBytes: null });
    await addFile(making, join(staging, 'installation.json'));
    return {
      format: FORMAT,
      version: VERSION,
      installation: installation.id,
      takenAt,
      tookMs: Math.round(app.clock.elapsed() - startedAt),
      bytes: making.bytes,
      ...mailboxes,
      sums: await sums.finish(),
      files: sums.files,
    };
  } finally {
    await sums.close();
  }
}

type MailboxFacts = Pick<BackupFacts, 'mailboxes' | 'damagedMailboxes'>;

/** Copies the accounts of the mailboxes that the copied database has. One that was never opened has no folder. */
async function copyMailboxes(making: Making): Promise<MailboxFacts> {
  const { app, staging, sums } = making;
  const facts: MailboxFacts = { mailboxes: 0, damagedMailboxes: [] };
  await mkdir(join(staging, 'mailboxes'), { mode: 0o700 });
  await eachMailbox(join(staging, 'postrider.db'), async (mailbox) => {
    const { id } = mailbox;
    const from = accountFolder(app.config.dataDir, id);
    const to = accountFolder(staging, id);
    if (!existsSync(from)) return;
    facts.mailboxes++;
    const copied = existsSync(indexFile(from)) ? await copyUnlessDamaged(app, mailbox, to) : undefined;
    if (copied) {
      await addFile(making, indexFile(to));
      for (const file of copied.linked) addLinked(making, file);
    } else {
      facts.damagedMailboxes.push(id);
      await copyDamagedAccount(from, to);
      await addFolder(making, to);
    }
    await flushDirectory(to);
    await sums.write();
    app.crashPoint('backup-mailbox');
  });
  await flushDirectory(join(staging, 'mailboxes'));
  return facts;
}

/** Returns undefined when the mailbox is damaged, which nobody has open then. */
async function copyUnlessDamaged(
  app: BackupApp,
  mailbox: MailboxRow,
  to: string,
): Promise<CopiedAccount | undefined> {
  if (mailbox.status === 'damaged') return undefined;
  try {
    return await app.copyAccount(mailbox, to);
  } catch (error) {
    const found = await findMailboxById(app.db.read, mailbox.id);
    if (found?.status !== 'damaged') throw error;
    app.log.error({ mailbox: mailbox.id, err: error }, 'a damaged mailbox is backed up as it is');
    await rm(to, { recursive: true, force: true });
    return undefined;
  }
}

/** Copies everything else of the data directory: keys, certificates, and messages that are being imported. */
async function copyOthers(making: Making): Promise<void> {
  const { app, staging } = making;
  const { dataDir } = app.config;
  const inMailboxes = (await namesIn(join(dataDir, 'mailboxes')))
    .filter((name) => !isMailboxId(name))
    .map((name) => join('mailboxes', name));
  const names = (await namesIn(dataDir)).filter(isCopiedWhole);
  for (const name of [...names, ...inMailboxes]) {
    await copyTree(making, join(dataDir, name), join(staging, name));
  }
}

/** Copies a file, or a folder with all that is in it. What disappears meanwhile is left out. */
async function copyTree(making: Making, from: string, to: string): Promise<void> {
  // A folder of backups inside the data directory is no part of it, least of all the one that is being filled.
  const folders = [making.folder, backupFolder(making.app.config)];
  if (folders.some((folder) => isSamePath(from, folder))) return;
  const found = statSync(from, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    await mkdir(to, { mode: 0o700 });
    for (const name of await namesIn(from)) await copyTree(making, join(from, name), join(to, name));
    await flushDirectory(to);
  } else if (found?.isFile() && (await copyIfExists(from, to))) {
    flushPath(to);
    await addFile(making, to);
  }
}

async function copyIfExists(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function addFolder(making: Making, folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) await addFile(making, join(entry.parentPath, entry.name));
}

async function addFile(making: Making, path: string): Promise<void> {
  addLinked(making, { sha256: await hashFile(path), path });
}

/** Adds a file whose name is its hash. */
function addLinked(making: Making, { sha256, path }: { sha256: string; path: string }): void {
  making.sums.add({ sha256, path: relative(making.staging, path) });
  making.bytes += statSync(path).size;
}
