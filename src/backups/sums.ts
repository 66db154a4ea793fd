/**
 * The hashes of the files of a backup, in the form of `sha256sum`: `sha256sum --check SHA256SUMS` verifies them without this
 * program.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { SUMS_FILE } from './format.ts';

/** Number of bytes that are hashed between two reads, which takes a fraction of a millisecond. */
const READ_BYTES = 256 * 1024;

const LINE = /^([0-9a-f]{64}) {2}(.+)$/;

export type Sum = { sha256: string; path: string };

/** Returns the SHA-256 of a file. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(path, { highWaterMark: READ_BYTES }))
    hash.update(bytes as Buffer);
  return hash.digest('hex');
}

/** Yields the hashes of a backup. A line in another form has an empty path. */
export async function* readSums(backup: string): AsyncGenerator<Sum> {
  const lines = createInterface({ input: createReadStream(join(backup, SUMS_FILE)) });
  for await (const line of lines) {
    const [, sha256 = '', path = ''] = LINE.exec(line) ?? [];
    yield { sha256, path };
  }
}

/** Returns true for a path that stays below the folder of the backup. */
export function isInside(path: string): boolean {
  return path !== '' && !path.startsWith('/') && normalize(path) === path && !path.split('/').includes('..');
}

/** Writes the list of hashes. */
export class SumsWriter {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #lines: string[] = [];
  files = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(backup: string): Promise<SumsWriter> {
    return new SumsWriter(await open(join(backup, SUMS_FILE), 'wx', 0o600));
  }

  /** Adds a file with its path below the backup. */
  add({ sha256, path }: Sum): void {
    this.#lines.push(`${sha256}  ${path}\n`);
    this.files++;
  }

  /** Writes what was added, so that a list of a million files is never in memory. */
  async write(): Promise<void> {
    const text = this.#lines.splice(0).join('');
    this.#hash.update(text);
    await this.#file.appendFile(text);
  }

  /** Makes the list durable and returns its SHA-256. */
  async finish(): Promise<string> {
    await this.write();
    await this.#file.sync();
    return this.#hash.digest('hex');
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
