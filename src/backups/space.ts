/** Measures the space that a backup needs, and requires that it is free. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { accountFolder, indexFile } from '../accounts/folder.ts';
import type { App } from '../app.ts';
import { AppError } from '../system/errors.ts';
import { isMailboxId, namesIn } from './format.ts';

const BYTES_PER_MEGABYTE = 1024 * 1024;

/** Returns the size of the databases, which are copied rather than linked. */
export async function databaseBytes(dataDir: string): Promise<number> {
  const accounts = (await namesIn(join(dataDir, 'mailboxes'))).filter((name) => isMailboxId(name));
  const databases = [
    join(dataDir, 'postrider.db'),
    ...accounts.map((id) => indexFile(accountFolder(dataDir, id))),
  ];
  return databases.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/**
 * Requires space for what is written, besides the reserve of the data directory: a backup must not be why mail is refused.
 * @throws AppError invalid_state
 */
export async function requireSpace(
  { config: { storage }, statDisk }: Pick<App, 'config' | 'statDisk'>,
  folder: string,
  neededBytes: number,
): Promise<void> {
  const { freeBytes, totalBytes } = await statDisk(folder);
  const reserveBytes = Math.min(storage.reserveMegabytes * BYTES_PER_MEGABYTE, totalBytes / 10);
  if (freeBytes - neededBytes >= reserveBytes) return;
  const inMegabytes = (bytes: number) => `${Math.ceil(bytes / BYTES_PER_MEGABYTE)} MB`;
  throw new AppError(
    'invalid_state',
    `A backup needs ${inMegabytes(neededBytes)} in ${folder} and leaves ${inMegabytes(reserveBytes)} free, but ${inMegabytes(freeBytes)} are free: remove old backups, or choose another disk (backup.folder)`,
  );
}
