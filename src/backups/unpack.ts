/** Decrypts the archive of a backup and unpacks it into a folder, which then has the form of a backup that is not encrypted. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openScratchFolder } from '../db/scratch-folder.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { decryptAge } from './age.ts';
import { ARCHIVE_FILE, BackupError, type BackupFacts, isEncrypted, readFacts } from './format.ts';
import { isInside } from './sums.ts';
import { readTar } from './tar.ts';

/** How an encrypted backup is opened. */
export type Unpacking = {
  /** Secret keys; one of them belongs to a recipient of the backup. */
  identities: readonly string[];
  /** Folder beside whose files the backup is unpacked, for as long as it is needed. */
  directory: string;
};

type OpenedBackup = AsyncDisposable & {
  /** Folder of a backup that is not encrypted. */
  folder: string;
  facts: BackupFacts;
  /** True when the files in the folder are of no further use, so that they may be moved away. */
  isScratch: boolean;
};

/**
 * Opens a backup: in its folder when it is not encrypted, and otherwise in a scratch folder.
 * @throws BackupError when the backup is not complete, is damaged, or when no identity opens it
 */
export async function openBackup(
  backup: string,
  { identities, directory }: Unpacking,
): Promise<OpenedBackup> {
  const facts = readFacts(backup);
  if (!isEncrypted(facts))
    return { folder: backup, facts, isScratch: false, [Symbol.asyncDispose]: async () => {} };
  if (identities.length === 0)
    throw new BackupError(`${backup} is encrypted: give the file of the secret key (--identity)`);
  const scratch = await openScratchFolder(directory);
  try {
    const { path } = scratch;
    await unpackEncrypted(join(backup, ARCHIVE_FILE), path, identities);
    const remove = () => scratch[Symbol.asyncDispose]();
    return { folder: path, facts: readFacts(path), isScratch: true, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await scratch[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Unpacks an archive into an empty folder, without the folder that all its files are in.
 * @throws BackupError when it is damaged or no identity opens it; errors of the file system
 */
export async function unpackEncrypted(
  file: string,
  to: string,
  identities: readonly string[],
): Promise<void> {
  try {
    await unpackArchive(createReadStream(file), { to, identities, isFlushed: false });
  } catch (error) {
    // The packages report damage by errors without a code. Those of the file system have one.
    if (errorCode(error) !== undefined || error instanceof BackupError) throw error;
    throw new BackupError(`${file} cannot be opened: ${errorMessage(error)}`, { cause: error });
  }
}

type UnpackOptions = {
  to: string;
  identities: readonly string[];
  /** True when the files have to be on disk. */
  isFlushed: boolean;
};

/**
 * Unpacks an archive while it arrives.
 * @throws BackupError, or Error without a code, when it is damaged or no identity opens it; errors of the file system and of the stream
 */
export async function unpackArchive(
  archive: AsyncIterable<Uint8Array>,
  { to, identities, isFlushed }: UnpackOptions,
): Promise<void> {
  for await (const { header, body } of readTar(decryptAge(archive, identities))) {
    const path = header.name.slice(header.name.indexOf('/') + 1);
    // Whoever knows the public key can make an archive, with links and paths that lead elsewhere.
    if (header.type !== 'file' || !isInside(path))
      throw new BackupError(`${ARCHIVE_FILE} has an entry that is no file of a backup`);
    const target = join(to, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await pipeline(body, createWriteStream(target, { flags: 'wx', mode: 0o600, flush: isFlushed }));
  }
}
