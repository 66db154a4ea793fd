/**
 * The sweep moves files that no row names to the trash, such as those of requests that a crash ended before their
 * commit. When it finds many such files, the database is more likely wrong than the files, so the sweep stops and moves
 * none.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { changedAt, listFolder, PARTIAL } from './files.ts';
import { clearTrash, moveToTrash, TRASH } from './trash.ts';

/** Minimum age of a swept file, in milliseconds: a younger file may belong to a request that has not committed yet. */
export const SWEEP_AGE_MS = 3_600_000;
/** Maximum share of all files that one sweep moves. */
const MAX_SWEPT_SHARE = 0.05;
/**
 * Maximum number of unnamed files that never stops a sweep: a crash leaves a handful, and a handful is a large share of
 * a few.
 */
const MAX_HARMLESS_FILES = 10;

type SweepOptions = {
  now: number;
  /** Returns true when a row names the file with this hash. */
  isNamed: (name: string) => Promise<boolean>;
  /**
   * Returns true when the file belongs to a request that may still commit. The sweep calls it last, and moves the file
   * in the same turn of the event loop.
   */
  isPrepared: (name: string) => boolean;
  /** True when the database was in use here at that time, so that a file which it does not name is no lost mail. */
  wasInUse: (at: number) => boolean;
  /**
   * `keep` only puts files back. `force` means that the operator says that the database is right; the sweep then has no
   * limit.
   */
  mode: 'normal' | 'keep' | 'force';
};

export type Swept = {
  /** Numbers of files that went to the trash, came back from it, and were removed from it. */
  moved: number;
  restored: number;
  removed: number;
  /** Reports why no file was moved: `unnamed` of all `files` would have gone, besides what killed requests have left. */
  stopped: { unnamed: number; files: number } | undefined;
};

/** Runs one sweep. `root` is the folder of the blobs. */
export async function sweepFiles(root: string, options: SweepOptions): Promise<Swept> {
  const { now, isNamed, mode } = options;
  const trash = await clearTrash(root, { now, isNamed, keepAll: mode === 'keep' });
  if (mode === 'keep') return { moved: 0, ...trash, stopped: undefined };
  await removePartial(root, now);
  const files = await countFiles(root);
  const limit = Math.max(MAX_HARMLESS_FILES, Math.floor(files * MAX_SWEPT_SHARE));
  const unnamed = await findUnnamed(root, options);
  // A killed request leaves its files, however many those are: they say nothing about the database.
  const suspicious = unnamed.filter(({ changed }) => !options.wasInUse(changed)).length;
  if (mode !== 'force' && suspicious > limit) {
    return { moved: 0, ...trash, stopped: { unnamed: suspicious, files } };
  }
  let moved = 0;
  for (const { path, name } of unnamed) {
    if ((await isNamed(name)) || options.isPrepared(name)) continue;
    moveToTrash(root, path, { name, now });
    moved++;
  }
  return { moved, ...trash, stopped: undefined };
}

/** Deletes partly written files that a crash left behind. */
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
  for (const folder of await listFileFolders(root)) count += (await listFolder(join(root, folder))).length;
  return count;
}

type Unnamed = { path: string; name: string; changed: number };

/** Lists files that no row names. */
async function findUnnamed(root: string, { now, isNamed, isPrepared }: SweepOptions): Promise<Unnamed[]> {
  const found: Unnamed[] = [];
  for (const folder of await listFileFolders(root)) {
    for (const name of await listFolder(join(root, folder))) {
      const path = join(root, folder, name);
      const changed = await changedAt(path);
      if (changed === undefined || changed >= now - SWEEP_AGE_MS) continue;
      if (isPrepared(name) || (await isNamed(name))) continue;
      found.push({ path, name, changed });
    }
  }
  return found;
}

/** Lists the folders that hold complete files. */
async function listFileFolders(root: string): Promise<string[]> {
  return (await listFolder(root)).filter((folder) => folder !== PARTIAL && folder !== TRASH);
}
