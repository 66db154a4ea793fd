/**
 * Message bytes. Small ones travel in the transaction of the mail they belong to; large ones become files named by their
 * hash, flushed before that transaction begins, so that a committed row always finds its bytes.
 */
import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Db } from '../db/database.ts';
import type { BlobRow } from '../db/tables.ts';
import { AppError, errorCode } from '../system/errors.ts';
import { type Id, newId } from '../system/ids.ts';
import type { System } from '../system/system.ts';
import { findBlob, isFileInUse } from './store.ts';

export type Blobs = {
  /** Makes large bytes durable and answers the row that `insertBlob` adds in the caller's transaction. */
  prepare(bytes: Uint8Array): Promise<BlobRow>;
  /** @throws Error when there is no such blob */
  read(id: Id<'blob'>): Promise<Buffer>;
  /** Deletes files that no row names: those of requests that a crash cut off before their commit. */
  sweep(): Promise<number>;
};

/** Up to here bytes live in the database (engine.md 4, spool tables). */
export const INLINE_BYTES = 256 * 1024;
/** A younger file may belong to a request that has not committed yet. */
const SWEEP_AGE_MS = 3_600_000;

export function openBlobs(system: Pick<System, 'clock'>, db: Db, dataDir: string): Blobs {
  const root = join(dataDir, 'blobs');
  /** When the bytes of a hash were last prepared: a sweep must not take what the same bytes are about to name again. */
  const preparedAt = new Map<string, number>();
  return {
    async prepare(bytes) {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const now = system.clock.now();
      const inline = bytes.length <= INLINE_BYTES;
      if (!inline) {
        preparedAt.set(sha256, now);
        await writeFile(root, sha256, bytes);
      }
      return {
        id: newId('blob', now),
        sha256,
        sizeBytes: bytes.length,
        data: inline ? bytes : null,
        createdAt: now,
      };
    },
    async read(id) {
      const row = await findBlob(db.read, id);
      if (!row) throw new Error(`blob ${id} does not exist`);
      if (row.data === null) return readFile(pathOf(root, row.sha256));
      return Buffer.from(row.data.buffer, row.data.byteOffset, row.data.byteLength);
    },
    sweep() {
      const before = system.clock.now() - SWEEP_AGE_MS;
      for (const [sha256, at] of preparedAt) if (at < before) preparedAt.delete(sha256);
      return sweep(root, before, async (sha256) => {
        const inUse = await isFileInUse(db.read, sha256);
        return inUse || preparedAt.has(sha256);
      });
    },
  };
}

function pathOf(root: string, sha256: string): string {
  return join(root, sha256.slice(0, 2), sha256);
}

/** Written whole under another name, flushed, renamed, and every directory on the way flushed: the file is there or not. */
async function writeFile(root: string, sha256: string, bytes: Uint8Array): Promise<void> {
  const path = pathOf(root, sha256);
  const temporary = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFlushed(temporary, bytes);
    await rename(temporary, path);
    // All of them each time: another request may have made a directory and not flushed it yet.
    for (const directory of [dirname(path), root, dirname(root)]) await flushDirectory(directory);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw asRefusal(error);
  }
}

async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** What passes by itself or with an operator's help is "come back later", and nothing was acknowledged. */
const LACKS = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EROFS']);

function asRefusal(error: unknown): unknown {
  if (!LACKS.has(errorCode(error) ?? '')) return error;
  return new AppError('unavailable', 'The message cannot be stored now', {
    cause: error,
    retryAfterSeconds: 30,
  });
}

async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function sweep(
  root: string,
  beforeMs: number,
  isNeeded: (sha256: string) => Promise<boolean>,
): Promise<number> {
  let removed = 0;
  for (const shard of await list(root)) {
    for (const name of await list(join(root, shard))) {
      const path = join(root, shard, name);
      const changedMs = await changedAt(path);
      if (changedMs === undefined || changedMs >= beforeMs || (await isNeeded(name))) continue;
      // At once, not in the thread pool: nothing can be prepared between the answer and this.
      rmSync(path);
      removed++;
    }
  }
  return removed;
}

/** Undefined when it is gone: a temporary file took its real name. */
async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function list(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
