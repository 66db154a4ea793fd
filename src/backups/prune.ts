/** Removes old backups. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundBackup, listBackups, partialPrefix } from './format.ts';

type Pruning = {
  folder: string;
  /** Number of backups that stay. */
  keep: number;
  /** Id of the installation whose backups are removed. Those of others in the same folder stay. */
  installation: string;
  /** Unix milliseconds. */
  now: number;
};

/**
 * Removes all backups of an installation but the newest ones, and returns those that it has removed. A backup that is being removed
 * has the name of an unfinished one, so that a crash leaves none that looks complete.
 */
export async function pruneBackups({ folder, keep, installation, now }: Pruning): Promise<FoundBackup[]> {
  const own = (await listBackups(folder)).filter(({ facts }) => facts.installation === installation);
  // A backup from the future was made before the clock was set back, so it is older than all others.
  const isFuture = ({ facts }: FoundBackup) => facts.takenAt > now;
  const ordered = [...own.filter(isFuture), ...own.filter((one) => !isFuture(one))];
  const old = ordered.slice(0, -keep);
  for (const { name, path } of old) {
    const unnamed = join(folder, `${partialPrefix(installation)}${name}`);
    await rename(path, unnamed);
    await rm(unnamed, { recursive: true, force: true });
  }
  return old;
}
