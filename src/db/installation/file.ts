/**
 * `installation.json` in the data directory records which database belongs to this directory, and which generation it
 * has reached. Only the writer thread writes it, and always after the database, so a crash between the two never makes
 * the database look like an old copy.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../system/errors.ts';
import { writeFlushed } from '../../system/write-flushed.ts';
import type { Alarm } from './alarm.ts';
import { DataDirectoryError } from './data-directory-error.ts';
import type { TimeSpan } from './uses.ts';

export type InstallationFile = {
  id: string;
  /** Minimum generation of the database (`InstallationRow`). */
  generation: number;
  /** Wall time of the last change, in epoch milliseconds. For people. */
  usedAt: number;
  /**
   * Minimum size of `postrider.db-wal` while the database is in use. Null during a start and after a clean stop, after
   * which the generation alone says whether anything is missing.
   */
  walBytes: number | null;
  /** Generation that the header of `postrider.db` alone, without its WAL, has at least (session.ts). */
  databaseGeneration?: number | undefined;
  /** The findings of earlier starts, which the next starts report again. */
  alarm?: Alarm | undefined;
  /** Time of the last start, and the times in which the database was in use before it. */
  startedAt?: number | undefined;
  uses?: readonly TimeSpan[];
};

/**
 * Returns undefined when the file does not exist.
 * @throws DataDirectoryError when the file is damaged
 */
export function readInstallationFile(directory: string): InstallationFile | undefined {
  const path = installationPath(directory);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const value = parse(text);
  if (isInstallationFile(value)) return value;
  throw new DataDirectoryError(
    `${path} is damaged: put it back from a backup, or remove it if ${join(directory, 'postrider.db')} belongs to this directory`,
  );
}

/**
 * Writes and flushes the file.
 * @throws Error of the file system
 */
export function writeInstallationFile(directory: string, file: InstallationFile): void {
  writeFlushed(installationPath(directory), `${JSON.stringify(file, null, 2)}\n`);
}

/**
 * Returns the size of a file; undefined when it does not exist. It does not open the file: that would drop SQLite's
 * locks.
 */
export function fileBytes(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Returns the path of `installation.json`. */
export function installationPath(directory: string): string {
  return join(directory, 'installation.json');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isInstallationFile(value: unknown): value is InstallationFile {
  if (typeof value !== 'object' || value === null) return false;
  const { id, generation, usedAt, walBytes } = value as Record<string, unknown>;
  return (
    typeof id === 'string' &&
    [generation, usedAt].every(Number.isSafeInteger) &&
    (walBytes === null || Number.isSafeInteger(walBytes))
  );
}
