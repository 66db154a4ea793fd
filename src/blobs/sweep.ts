/**
 * The sweep: files that no row names, such as those of requests that a crash cut off before their commit, go to the trash.
 * Where many are in no row the database is more likely wrong than the files: then the sweep stops and takes none.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { changedAt, listFolder, PARTIAL } from './files.ts';
import { clearTrash, moveToTrash, TRASH } from './trash.ts';

/** A younger file may belong to a request that has not committed yet. */
export const SWEEP_AGE_MS = 3_600_000;
/** Largest share of all files that a sweep takes. Our own limit. */
const MAX_SWEPT_SHARE = 0.05;
/** A sweep of so few files is never stopped: a crash leaves a handful, and they are a large share of a few. Our own limit. */
const MAX_HARMLESS_FILES = 10;

export type SweepOptions = {
  now: number;
  /** Whether a row names the file with this hash. */
  isNamed: (name: string) => Promise<boolean>;
  /** Whether the file is of a request that may still commit. Asked last, in the same turn as the file is moved. */
  isPrepared: (name: string) => boolean;
  /** `keep`: only puts files back. `force`: the operator says that the database is right, however many files it takes. */
  mode: 'normal' | 'keep' | 'force';
};

export type Swept = {
  /** Files that went to the trash, came back from it, and were removed from it. */
  moved: number;
  restored: number;
  removed: number;
  /** Why no file was moved: there would have been at least so many, of so many in all. */
  stopped: { unnamed: number; files: number } | undefined;
};

export async function sweepFiles(root: string, options: SweepOptions): Promise<Swept> {
  const { now, isNamed, mode } = options;
  const trash = await clearTrash(root, { now, isNamed, keepAll: mode === 'keep' });
  if (mode === 'keep') return { moved: 0, ...trash, stopped: undefined };
  await removePartial(root, now);
  const files = await countFiles(root);
  const limit = Math.max(MAX_HARMLESS_FILES, Math.floor(files * MAX_SWEPT_SHARE));
  const unnamed = await findUnnamed(root, options, mode === 'force' ? Number.POSITIVE_INFINITY : limit);
  if (mode !== 'force' && unnamed.length > limit) {
    return { moved: 0, ...trash, stopped: { unnamed: unnamed.length, files } };
  }
  let moved = 0;
  for (const { path, name } of unnamed) {
    if ((await isNamed(name)) || options.isPrepared(name)) continue;
    moveToTrash(root, path, { name, now });
    moved++;
  }
  return { moved, ...trash, stopped: undefined };
}

/** What a crash left half written is of no use to anybody. */
async function removePartial(root: string, now: number): Promise<void> {
  const folder = join(root, PARTIAL);
  for (const name of await listFolder(folder)) {
    const path = join(folder, name);
    const changed = await changedAt(path);
    if (changed !== undefined && changed < now - SWEEP_AGE_MS) rmSync(path, { force: true });
  }
}

async function countFiles(root: string): Promise<number> {
  let count = 0;
  for (const folder of await listPlaces(root)) count += (await listFolder(join(root, folder))).length;
  return count;
}

/** Stops at the first file beyond `limit`. */
async function findUnnamed(
  root: string,
  { now, isNamed, isPrepared }: SweepOptions,
  limit: number,
): Promise<{ path: string; name: string }[]> {
  const found: { path: string; name: string }[] = [];
  for (const folder of await listPlaces(root)) {
    for (const name of await listFolder(join(root, folder))) {
      const path = join(root, folder, name);
      const changed = await changedAt(path);
      if (changed === undefined || changed >= now - SWEEP_AGE_MS) continue;
      if (isPrepared(name) || (await isNamed(name))) continue;
      found.push({ path, name });
      if (found.length > limit) return found;
    }
  }
  return found;
}

/** Folders of whole files. */
async function listPlaces(root: string): Promise<string[]> {
  return (await listFolder(root)).filter((folder) => folder !== PARTIAL && folder !== TRASH);
}
