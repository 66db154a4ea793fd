/**
 * Encrypts the files of a backup into one file: a tar archive in the format of age, which `age --decrypt` and `tar` open without
 * this program. Files and archive are streams, so the memory is bounded whatever their sizes are.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { encryptAge } from './age.ts';
import { FACTS_FILE, SUMS_FILE } from './format.ts';
import { readSums } from './sums.ts';
import { type AddFile, writeTar } from './tar.ts';

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
  const hash = createHash('sha256');
  const archive = writeTar((add) => addFiles(add, from, name));
  const encrypted = async function* () {
    for await (const piece of encryptAge(archive, recipients)) {
      hash.update(piece);
      yield piece;
    }
  };
  await pipeline(encrypted(), createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }));
  return hash.digest('hex');
}

async function addFiles(add: AddFile, from: string, name: string): Promise<void> {
  for await (const { path } of readSums(from)) await addFile(add, join(from, path), join(name, path));
  for (const path of [SUMS_FILE, FACTS_FILE]) await addFile(add, join(from, path), join(name, path));
}

function addFile(add: AddFile, file: string, name: string): Promise<void> {
  const { size, mtime } = statSync(file);
  return add({ name, size, mtime, bytes: createReadStream(file) });
}
