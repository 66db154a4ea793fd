/**
 * The files of blobs: `blobs/<first two digits>/<sha-256>`. A file is written in `blobs/partial` under a random name,
 * because its hash is not known yet. It is then flushed and renamed, and every directory of its path is flushed, so
 * that the file exists either completely or not at all. The sweep removes the files that a crash leaves in `partial`.
 */
import { randomUUID } from 'node:crypto';
import { accessSync, constants, mkdirSync, renameSync, statSync } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushDirectory } from '../db/flush-files.ts';
import { endOnBrokenStorage, isDiskFull } from '../db/storage-failure.ts';
import { AppError, errorCode } from '../system/errors.ts';
import { DamagedBlobError } from './damaged.ts';

/** Number of bytes that are collected before they are written. */
const WRITE_BYTES = 64 * 1024;
const READ_BYTES = 128 * 1024;
/** Folder of files that are being written or being removed, and of those that may be lost (scratch.ts). */
export const PARTIAL = 'partial';
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Checks the folders of an owner's blobs. It is called at start, so that a folder which another user made is noticed before the
 * first large message.
 * @throws Error with the code of the file system when a path is not a folder, or cannot be written
 */
export function requireWritableFolders(root: string): void {
  for (const folder of [root, join(root, PARTIAL)]) {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (!found) return;
    // The file system reports ENOTDIR for this path when a file is in the place of the folder.
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
  }
}

export class FileWriter {
  readonly #root: string;
  readonly #temporary: string;
  readonly #file: FileHandle;
  /** Bytes that are collected. This memory is used again, because joined copies of a whole large message would wait to be freed. */
  readonly #gathered = Buffer.allocUnsafeSlow(WRITE_BYTES);
  #gatheredBytes = 0;
  #isFinished = false;

  private constructor(root: string, temporary: string, file: FileHandle) {
    this.#root = root;
    this.#temporary = temporary;
    this.#file = file;
  }

  static async open(root: string): Promise<FileWriter> {
    const temporary = join(root, PARTIAL, randomUUID());
    return refusing(temporary, async () => {
      await mkdir(dirname(temporary), { recursive: true, mode: FOLDER_MODE });
      return new FileWriter(root, temporary, await open(temporary, 'wx', FILE_MODE));
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const some = bytes.subarray(at, at + WRITE_BYTES - this.#gatheredBytes);
      this.#gathered.set(some, this.#gatheredBytes);
      this.#gatheredBytes += some.length;
      at += some.length;
      if (this.#gatheredBytes === WRITE_BYTES) await refusing(this.#temporary, () => this.#writeGathered());
    }
  }

  /** Makes the file durable under its name. */
  async finish(sha256: string): Promise<void> {
    const path = pathOf(this.#root, sha256);
    await refusing(path, async () => {
      await this.#writeGathered();
      await this.#file.datasync();
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
      await rename(this.#temporary, path);
      this.#isFinished = true;
      // All folders are flushed each time, because another request may have created one and not flushed it yet.
      for (const folder of [dirname(path), this.#root, dirname(this.#root)]) await flushDirectory(folder);
    });
  }

  /** Keeps the file where it was written, without flushing it, and returns its path. */
  async keep(): Promise<string> {
    await refusing(this.#temporary, () => this.#writeGathered());
    this.#isFinished = true;
    return this.#temporary;
  }

  /** Closes the file, and removes it when it was neither finished nor kept. The caller always calls it. */
  async close(): Promise<void> {
    try {
      await this.#file.close();
    } finally {
      if (!this.#isFinished) await rm(this.#temporary, { force: true }).catch(() => {});
    }
  }

  async #writeGathered(): Promise<void> {
    if (this.#gatheredBytes === 0) return;
    const bytes = this.#gathered.subarray(0, this.#gatheredBytes);
    this.#gatheredBytes = 0;
    // `writeFile` on a handle writes at its current position, and repeats until everything is written.
    await this.#file.writeFile(bytes);
  }
}

/**
 * Gives a durable file of another owner the name of a blob here, without copying it where the file system allows that. The
 * result is durable.
 */
export async function linkFile(root: string, from: string, sha256: string): Promise<void> {
  const path = pathOf(root, sha256);
  const temporary = join(root, PARTIAL, randomUUID());
  await refusing(path, async () => {
    for (const folder of [dirname(temporary), dirname(path)])
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    try {
      await linkOrCopy(from, temporary);
      await rename(temporary, path);
    } finally {
      // When both names are of one file, `rename` keeps both.
      await rm(temporary, { force: true });
    }
    for (const folder of [dirname(path), root, dirname(root)]) await flushDirectory(folder);
  });
}

/** Codes of `link` between file systems, on those without links, and for a file that has too many. */
const UNLINKABLE = new Set(['EXDEV', 'EPERM', 'ENOSYS', 'ENOTSUP', 'EMLINK']);

/** Gives a file a second name, or copies and flushes it where the file system does not allow that. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch((error) => copyInstead(error, from, to));
}

async function copyInstead(error: unknown, from: string, to: string): Promise<void> {
  if (!UNLINKABLE.has(errorCode(error) ?? '')) throw error;
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const file = await open(to, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** File system errors that end by themselves or with an operator's help: the caller is told to retry. */
const PASSING = new Set([
  ...['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EROFS'],
  // The operator sees these codes when another user made a folder of blobs, or a file is in its place.
  ...['EACCES', 'EPERM', 'ENOTDIR', 'EEXIST'],
]);

async function refusing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    endOnBrokenStorage(error, path);
    const code = errorCode(error) ?? '';
    if (!PASSING.has(code)) throw error;
    throw new AppError('unavailable', 'The message cannot be stored now', {
      cause: error,
      retryAfterSeconds: 30,
      ...(isDiskFull(code) && { shortage: 'disk' }),
    });
  }
}

/**
 * Returns the size of a blob's file in bytes.
 * @throws Error with the code ENOENT when it does not exist
 */
export async function fileSize(root: string, sha256: string): Promise<number> {
  return (await stat(pathOf(root, sha256))).size;
}

/**
 * Reads the first `end` bytes of a file.
 * @throws DamagedBlobError when it has fewer
 */
export async function fileHead(root: string, sha256: string, end: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of fileChunks(pathOf(root, sha256), end)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * Yields the first `end` bytes of a file in order. Each chunk has its own memory, so that a socket may hold it.
 * @throws DamagedBlobError when it has fewer
 */
export async function* fileChunks(path: string, end: number): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    let at = 0;
    while (at < end) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new DamagedBlobError(path, `the file ends at ${at} of ${end} bytes`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/**
 * Reads a range of a file. The bytes have their own memory.
 * @throws DamagedBlobError when the file ends before the range does
 */
export async function fileRange(path: string, start: number, end: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(end - start);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
      if (bytesRead === 0) throw new DamagedBlobError(path, `the file ends at ${start + at} of ${end} bytes`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

/**
 * Removes a file. It frees the name synchronously, so no request can prepare the same bytes between the caller's check
 * and the removal. The bytes are deleted in the thread pool, because a large file takes tens of milliseconds. A file
 * that does not exist counts as removed.
 */
export async function removeFile(root: string, sha256: string): Promise<void> {
  const nameless = join(root, PARTIAL, randomUUID());
  mkdirSync(dirname(nameless), { recursive: true, mode: FOLDER_MODE });
  try {
    renameSync(pathOf(root, sha256), nameless);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  await rm(nameless, { force: true });
}

/** Returns the modification time; undefined when the file does not exist, because it was renamed in the meantime. */
export async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the names in a folder; none when the folder does not exist. */
export async function listFolder(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Folders that hold whole files, by the first two digits of their hashes. */
export const FILE_FOLDER = /^[0-9a-f]{2}$/;

/** Returns false when no message has a file here, such as below the mount point of a volume that is not mounted. */
export async function hasFiles(root: string): Promise<boolean> {
  return (await listFolder(root)).some((name) => FILE_FOLDER.test(name));
}

/** Returns the path of a blob's file. */
export function pathOf(root: string, sha256: string): string {
  return join(root, sha256.slice(0, 2), sha256);
}
