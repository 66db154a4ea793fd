/**
 * Folders for files that are needed only for a while. A process that is killed leaves its folder behind; whoever opens the next one
 * beside it removes what no process uses any more.
 */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LockedError, lockDirectory } from './lock.ts';

/** Beginning of the names of all scratch folders. */
const SCRATCH = 'scratch-';
/** Number of attempts to open a folder. Another process may take a new folder for a stale one before it is locked. */
const MAX_ATTEMPTS = 3;

type ScratchFolder = AsyncDisposable & {
  /** An empty folder, which is removed with all that is in it. */
  readonly path: string;
};

/**
 * Opens a scratch folder in a folder that exists, after it has removed those that no process uses.
 * @throws errors of the file system
 */
export async function openScratchFolder(parent: string): Promise<ScratchFolder> {
  await removeStaleFolders(parent);
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(parent, SCRATCH));
    try {
      // The kernel frees the lock when the process ends, however it ends.
      const lock = lockDirectory(folder);
      const path = join(folder, 'files');
      await mkdir(path, { mode: 0o700 });
      return {
        path,
        [Symbol.asyncDispose]: async () => {
          await rm(folder, { recursive: true, force: true });
          lock.release();
        },
      };
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if (attempt === MAX_ATTEMPTS || !(error instanceof LockedError)) throw error;
    }
  }
}

/** Removes the scratch folders that no process uses. Those of other users stay. */
export async function removeStaleFolders(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(SCRATCH));
  for (const name of names) {
    const folder = join(parent, name);
    let lock: { release(): void };
    try {
      lock = lockDirectory(folder);
    } catch {
      continue;
    }
    try {
      await rm(folder, { recursive: true, force: true });
    } finally {
      lock.release();
    }
  }
}
