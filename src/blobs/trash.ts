/**
 * `blobs/trash`: files that no row named when the sweep found them. They stay for a week, so that the wrong database takes
 * nothing away for good; as soon as a row names one of them again, it goes back to its place.
 */
import { mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../system/errors.ts';
import { changedAt, listFolder, pathOf } from './files.ts';

export const TRASH = 'trash';
/** How long a file stays in the trash. Our own limit. */
const KEPT_MS = 7 * 86_400_000;
const FOLDER_MODE = 0o700;

/** At once, not in the thread pool: nothing can be prepared between the caller's last question and this. */
export function moveToTrash(root: string, path: string, { name, now }: { name: string; now: number }): void {
  mkdirSync(join(root, TRASH), { recursive: true, mode: FOLDER_MODE });
  // The time of a file in the trash is the time it came there.
  utimesSync(path, now / 1_000, now / 1_000);
  renameSync(path, join(root, TRASH, name));
}

/** Puts a file back in its place. Returns false when it is not in the trash. */
export function restoreFromTrash(root: string, sha256: string): boolean {
  const path = pathOf(root, sha256);
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  try {
    renameSync(join(root, TRASH, sha256), path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

export type TrashOptions = {
  now: number;
  /** Whether a row names the file with this hash. */
  isNamed: (name: string) => Promise<boolean>;
  /** Nothing is removed, however old. */
  keepAll: boolean;
};

/** Puts back what a row names, and removes what has been there for a week. */
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
