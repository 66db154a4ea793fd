/**
 * Encrypts the files of a backup into one file: a tar archive in the format of age, which `age --decrypt` and `tar` open without
 * this program. Files and archive are streams, so the memory is bounded whatever their sizes are.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { encryptAge } from './age.ts';
import { FACTS_FILE, SUMS_FILE } from './format.ts';
import { readSums } from './sums.ts';

export type PackJob = {
  /** Folder of a complete backup that is not encrypted. */
  from: string;
  /** Name of the folder in the archive. */
  name: string;
  /** Path of the archive, which does not exist. */
  to: string;
  /** Public keys, `age1…`. */
  recipients: readonly string[];
};

/** Packs and encrypts a backup, and returns the SHA-256 of the archive, which is on disk then. */
export async function packEncrypted({ from, name, to, recipients }: PackJob): Promise<string> {
  const { readable, controller } = createTarPacker();
  const hash = createHash('sha256');
  const hashed = async function* () {
    for await (const piece of encryptAge(readable, recipients)) {
      hash.update(piece);
      yield piece;
    }
  };
  await Promise.all([
    addFiles(controller, from, name).catch((error: unknown) => {
      // Otherwise the archive would wait for the file that cannot be read.
      controller.error(error);
      throw error;
    }),
    pipeline(hashed(), createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true })),
  ]);
  return hash.digest('hex');
}

async function addFiles(archive: TarPackController, from: string, name: string): Promise<void> {
  for await (const { path } of readSums(from)) await addFile(archive, join(from, path), join(name, path));
  for (const path of [SUMS_FILE, FACTS_FILE]) await addFile(archive, join(from, path), join(name, path));
  archive.finalize();
}

async function addFile(archive: TarPackController, file: string, name: string): Promise<void> {
  const { size, mtime } = statSync(file);
  const writer = archive.add({ name, type: 'file', size, mtime, mode: 0o600 }).getWriter();
  // The writes below report an error of the archive.
  writer.closed.catch(() => {});
  for await (const piece of createReadStream(file)) await writer.write(piece as Buffer);
  await writer.close();
}
