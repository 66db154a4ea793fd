/**
 * A store in a folder, such as a mounted disk. An object is a file, at the path of its name (`folder-layout.ts`). A file is written under another name in
 * `.partial`, flushed and renamed, so that it is there whole or not at all, also after a power cut. Names never lead out of the folder
 * (`object-store.ts`); links that the operator has placed in it are followed.
 */
import { randomBytes } from 'node:crypto';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../system/clock.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { partsOfBody, sizeOfBody } from './body.ts';
import { listFolder, pathOfObject } from './folder-layout.ts';
import { type ObjectBody, type ObjectStore, requireName, requirePrefix, StoreError } from './object-store.ts';

/** Folder of the files that are being written. No name begins with a dot. */
const PARTIAL = '.partial';
/** Age at which a file in it counts as left behind, in milliseconds. An object is written within minutes. */
const ABANDONED_MS = 86_400_000;
/** Maximum number of directories that are remembered. */
const MAX_KNOWN = 1_000;
/** Size of the parts in which a file is read. */
const PART_BYTES = 256 * 1024;

type StoredFile = { sizeBytes: number; parts: AsyncIterable<Uint8Array> };

export class FolderStore implements ObjectStore {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #root: string;
  /** Directories that exist and have been flushed. */
  readonly #known = new Set<string>();
  #isTidy = false;

  /** `root` exists, so that a disk that is not mounted is noticed. */
  constructor({ clock }: { clock: Pick<Clock, 'now'> }, root: string) {
    this.#clock = clock;
    this.#root = root;
  }

  async put(name: string, body: ObjectBody): Promise<void> {
    sizeOfBody(body);
    await this.receive(name, partsOfBody(body));
  }

  create(name: string, bytes: Uint8Array): Promise<boolean> {
    sizeOfBody({ bytes });
    return this.receive(name, partsOfBody({ bytes }), { onlyNew: true });
  }

  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await this.open(name))?.parts;
  }

  async list(prefix: string, after = ''): Promise<string[]> {
    requirePrefix(prefix);
    return await this.#run(async () => {
      await this.#requireRoot();
      return await listFolder({ root: this.#root, prefix, after });
    });
  }

  async remove(name: string): Promise<void> {
    const path = this.#pathOf(name);
    await this.#run(async () => {
      await this.#requireRoot();
      await unlink(path).catch(unlessMissing);
      await this.#removeEmpty(dirname(path));
    });
  }

  async close(): Promise<void> {}

  /**
   * Stores what arrives, once all of it is there. Returns false when `onlyNew` is true and the name exists.
   * @throws StoreError, or the error of `parts`, and then nothing is stored
   */
  async receive(
    name: string,
    parts: AsyncIterable<Uint8Array>,
    { onlyNew = false }: { onlyNew?: boolean } = {},
  ): Promise<boolean> {
    const path = this.#pathOf(name);
    const partial = join(this.#root, PARTIAL, randomBytes(16).toString('hex'));
    try {
      await this.#run(async () => {
        await this.#requireRoot();
        await this.#tidy();
        await this.#makeDirectory(dirname(partial));
        await this.#makeDirectory(dirname(path));
      });
      await this.#write(partial, parts);
      return await this.#run(() => this.#publish(partial, path, onlyNew));
    } finally {
      await rm(partial, { force: true }).catch(() => {});
    }
  }

  /**
   * Opens an object; undefined when there is none.
   * @throws StoreError
   */
  async open(name: string): Promise<StoredFile | undefined> {
    const path = this.#pathOf(name);
    return await this.#run(async () => {
      await this.#requireRoot();
      const handle = await open(path, 'r').catch(unlessMissing);
      if (!handle) return undefined;
      const found = await handle.stat();
      if (found.isFile()) return { sizeBytes: found.size, parts: this.#read(handle, found.size) };
      await handle.close();
      return undefined;
    });
  }

  async *#read(handle: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < sizeBytes; ) {
        const part = Buffer.allocUnsafe(Math.min(PART_BYTES, sizeBytes - at));
        const { bytesRead } = await this.#run(() => handle.read(part, 0, part.length, at));
        if (bytesRead === 0)
          throw new StoreError('unreachable', `a file in ${this.#root} ended while it was read`);
        at += bytesRead;
        yield part.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }

  async #write(file: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
    const handle = await this.#run(() => open(file, 'wx', 0o600));
    try {
      for await (const part of parts) await this.#run(() => handle.writeFile(part));
      await this.#run(() => handle.sync());
    } finally {
      await handle.close();
    }
  }

  /** Gives the file its name. Returns false when only a new name is wanted, and there is one. */
  async #publish(partial: string, path: string, onlyNew: boolean): Promise<boolean> {
    if (onlyNew && !(await takeName(partial, path))) return false;
    if (!onlyNew) await rename(partial, path);
    await flushDirectory(dirname(path));
    return true;
  }

  #pathOf(name: string): string {
    requireName(name);
    return join(this.#root, pathOfObject(name));
  }

  /** A missing root is a disk that is not mounted, and must not be made: the objects would fill the disk below it. */
  async #requireRoot(): Promise<void> {
    if ((await stat(this.#root).catch(unlessMissing))?.isDirectory()) return;
    this.#known.clear();
    throw new StoreError('unreachable', `${this.#root} is not there: make the folder, or mount its disk`);
  }

  /** Makes a directory below the root, with its parents, and flushes what has changed. */
  async #makeDirectory(directory: string): Promise<void> {
    if (directory === this.#root || this.#known.has(directory)) return;
    await this.#makeDirectory(dirname(directory));
    await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    await flushDirectory(dirname(directory));
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.add(directory);
  }

  /** Removes a directory that has become empty, and those above it. Another process may be about to write there, and then tries again. */
  async #removeEmpty(directory: string): Promise<void> {
    if (directory === this.#root) return;
    const isRemoved = await rmdir(directory).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return await flushDirectory(directory).catch(unlessMissing);
    this.#known.delete(directory);
    await this.#removeEmpty(dirname(directory));
  }

  /** Removes, once, what a crash has left behind. Another process may be writing into the same folder, so what is young stays. */
  async #tidy(): Promise<void> {
    if (this.#isTidy) return;
    this.#isTidy = true;
    const folder = join(this.#root, PARTIAL);
    for (const entry of (await readdir(folder).catch(unlessMissing)) ?? []) {
      const file = join(folder, entry);
      const found = await stat(file).catch(unlessMissing);
      if (found && this.#clock.now() - found.mtimeMs > ABANDONED_MS) await rm(file, { force: true });
    }
  }

  /** Runs a step, whose error of the file system becomes a StoreError. */
  async #run<Value>(step: () => Promise<Value>): Promise<Value> {
    try {
      return await step();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      // Somebody has removed a directory.
      if (errorCode(error) === 'ENOENT') this.#known.clear();
      throw new StoreError(kindOf(error), describe(error, this.#root), { cause: error });
    }
  }
}

/** Codes of a file system without hard links, such as FAT. */
const LACKS_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Gives a file a name that no file has yet; returns false when one has it. A second link is made only if its name is new, while a rename would
 * replace another file. Where there are no links, an empty file takes the name first.
 */
async function takeName(partial: string, path: string): Promise<boolean> {
  try {
    await link(partial, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!LACKS_LINKS.includes(errorCode(error) ?? '')) throw error;
  }
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
  await rename(partial, path);
  return true;
}

const FULL: readonly string[] = ['ENOSPC', 'EDQUOT'];
const FORBIDDEN: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];

function kindOf(error: unknown): StoreError['kind'] {
  const code = errorCode(error) ?? '';
  return [...FULL, ...FORBIDDEN, 'ENOTDIR', 'EISDIR', 'ENOTSUP'].includes(code) ? 'refused' : 'unreachable';
}

function describe(error: unknown, root: string): string {
  const code = errorCode(error) ?? '';
  if (FULL.includes(code)) return `the disk of ${root} is full`;
  if (FORBIDDEN.includes(code)) return `this user may not write to ${root} or read it (${code})`;
  return `${root} cannot be used: ${errorMessage(error)}`;
}

function unlessMissing(error: unknown): undefined {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
  throw error;
}

async function flushDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
