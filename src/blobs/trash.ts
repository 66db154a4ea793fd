/**
 * `blobs/trash` holds files that no row named when the sweep found them. They stay for a week, so that a wrong database
 * deletes nothing for good. As soon as a row names one of them again, the file goes back to its folder.
 */
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../system/errors.ts';
import { changedAt, listFolder, pathOf } from './files.ts';

export const TRASH = 'trash';
/** Time for which a file stays in the trash, in milliseconds. */
const KEPT_MS = 7 * 86_400_000;
const FOLDER_MODE = 0o700;

/**
 * Moves a file to the trash. It runs synchronously, not in the thread pool, so no request can prepare the same bytes
 * between the caller's last check and the move.
 */
export function moveToTrash(root: string, path: string, { name, now }: { name: string; now: number }): void {
  mkdirSync(join(root, TRASH), { recursive: true, mode: FOLDER_MODE });
  // The modification time of a file in the trash is the time at which it was moved there.
  utimesSync(path, now / 1_000, now / 1_000);
  renameSync(path, join(root, TRASH, name));
}

/** Moves a file back from the trash to its folder. Returns false when it is not in the trash. */
export function restoreFromTrash(root: string, sha256: string): boolean {
  const path = pathOf(root, sha256);
  const trashed = join(root, TRASH, sha256);
  // No folder is made for a file that is nowhere: `root` may be a volume that is not mounted.
  if (!existsSync(trashed)) return false;
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  try {
    renameSync(trashed, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

type TrashOptions = {
  now: number;
  /** Returns true when a row names the file with this hash. */
  isNamed: (name: string) => Promise<boolean>;
  /** True when no file is to be removed from the trash, however old it is. */
  keepAll: boolean;
};

/** Puts back the files that a row names, and removes those that have been in the trash for a week. */
export async function clearTrash(
  root: string,
  { now, isNamed, keepAll }: TrashOptions,
): Promise<{ restored: number; removed: number }> {
  let [restored, removed] = [0, 0];
  for (const name of await listFolder(join(root, TRASH))) {
    const path = join(root, TRASH, name);
    const cameAt = await changedAt(path);
    if (cameAt === undefined) continue;
    if (await isNamed(name)) {
      if (restoreFromTrash(root, name)) restored++;
    } else if (!keepAll && cameAt < now - KEPT_MS) {
      rmSync(path, { force: true });
      removed++;
    }
  }
  return { restored, removed };
}
