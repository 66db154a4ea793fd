/** Removes old backups. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundBackup, listBackups, PARTIAL } from './format.ts';

/**
 * Removes all backups of a folder but the newest ones, and returns those that it has removed. A backup that is being removed
 * has the name of an unfinished one, so that a crash leaves none that looks complete.
 */
export async function pruneBackups(folder: string, keep: number): Promise<FoundBackup[]> {
  const old = (await listBackups(folder)).slice(0, -keep);
  for (const { name, path } of old) {
    const unnamed = join(folder, `${PARTIAL}${name}`);
    await rename(path, unnamed);
    await rm(unnamed, { recursive: true, force: true });
  }
  return old;
}
