/** Gives a complete backup its name, and removes those that were never completed. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flushDirectory } from '../db/flush-files.ts';
import { errorCode } from '../system/errors.ts';
import { backupName, namesIn, partialPrefix } from './format.ts';

/** Maximum number of names that other installations may have taken, of seconds that follow each other. */
const MAX_TAKEN_NAMES = 60;

type Publishing = {
  folder: string;
  /** Folder with the complete backup. */
  staging: string;
  /** Time at which the backup was begun, in Unix milliseconds. */
  startedAt: number;
};

type Published = { name: string; path: string };

/** Gives a complete backup its name. Another installation may have made one in the same folder in the same second. */
export async function publishBackup({ folder, staging, startedAt }: Publishing): Promise<Published> {
  for (let attempt = 0; ; attempt++) {
    const name = backupName(startedAt + attempt * 1_000);
    const path = join(folder, name);
    try {
      await rename(staging, path);
      await flushDirectory(folder);
      return { name, path };
    } catch (error) {
      const isTaken = /^(?:ENOTEMPTY|EEXIST)$/.test(errorCode(error) ?? '');
      if (!isTaken || attempt === MAX_TAKEN_NAMES) throw error;
    }
  }
}

/** Removes what earlier backups of this installation have left that a crash ended. */
export async function removePartial(folder: string, installation: string): Promise<void> {
  const prefix = partialPrefix(installation);
  const left = (await namesIn(folder)).filter((name) => name.startsWith(prefix));
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
}
