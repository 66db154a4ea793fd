/**
 * Checks at start whether a database and its data directory belong together. A missing or foreign database is refused,
 * because the blob sweep would take every file that a wrong database does not name. An older one is only reported: a
 * restored backup is legitimate.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InstallationRow } from '../own-tables.ts';
import type { Finding } from './alarm.ts';
import { DataDirectoryError } from './data-directory-error.ts';
import type { InstallationFile } from './file.ts';

export type FoundFiles = {
  directory: string;
  /** Sizes of `postrider.db` and of its WAL before anything was opened; undefined when the file does not exist. */
  databaseBytes: number | undefined;
  walBytes: number | undefined;
  file: InstallationFile | undefined;
  /** True when the operator wants a new database where there is none. */
  newDatabase: boolean;
};

/**
 * Requires that the database file is there. It runs before SQLite opens the database, which would create a missing
 * file.
 * @throws DataDirectoryError
 */
export function requireDatabaseFile(found: FoundFiles): void {
  if (found.databaseBytes === undefined) requirePermission(found, 'missing');
  if (found.databaseBytes === 0) requirePermission(found, 'empty');
}

/**
 * Requires that the database has a schema, and that `--new-database` is not used on one that has.
 * @throws DataDirectoryError
 */
export function requireSchema(found: FoundFiles, hasSchema: boolean): void {
  if (!hasSchema) requirePermission(found, 'empty');
  else if (found.newDatabase) {
    throw new DataDirectoryError(
      `${databaseOf(found)} is there, and --new-database never replaces one: move it away first, or start without that option`,
    );
  }
}

/**
 * Requires that the database and the data directory have the same id.
 * @throws DataDirectoryError when both have an id and the ids differ
 */
export function requireSameInstallation(
  { directory, file }: FoundFiles,
  row: { id: string } | undefined,
): void {
  if (!file || !row || file.id === row.id) return;
  const other = join(directory, 'installation.json');
  throw new DataDirectoryError(
    `${join(directory, 'postrider.db')} belongs to another installation (${row.id}) than ${other} (${file.id}): put back the database of this directory; or, if this database and the files beside it belong together, remove ${other}`,
  );
}

/** Returns the reasons to believe that the database does not fit its data directory. */
export function findingsOf(
  found: FoundFiles,
  row: InstallationRow | undefined,
  hasSchema: boolean,
): Finding[] {
  const { file, walBytes, newDatabase, directory } = found;
  if (!hasSchema) return newDatabase && tracesOf(directory).length > 0 ? ['new-database'] : [];
  if (!file) return [];
  const findings: Finding[] = [];
  if ((row?.generation ?? 0) < file.generation) findings.push('older-copy');
  if (file.walBytes !== null && (walBytes ?? -1) < file.walBytes)
    findings.push(walBytes === undefined ? 'wal-missing' : 'wal-cut');
  return findings;
}

/**
 * Lists the files that show that the directory is in use. A first start that a crash interrupted has left none of
 * these: each is made after the database is durable.
 */
function tracesOf(directory: string): string[] {
  const blobs = join(directory, 'blobs');
  return [
    ...['installation.json', 'master.key'].filter((name) => existsSync(join(directory, name))),
    ...(existsSync(blobs) && readdirSync(blobs).length > 0 ? ['blobs'] : []),
    // The operator may keep files of their own in `tls`.
    ...(existsSync(join(directory, 'tls', 'self-signed')) ? ['tls/self-signed'] : []),
  ];
}

function requirePermission(found: FoundFiles, state: 'missing' | 'empty'): void {
  const traces = tracesOf(found.directory);
  if (traces.length === 0 || found.newDatabase) return;
  throw new DataDirectoryError(
    `${databaseOf(found)} is ${state}, but ${found.directory} is in use (it has ${traces.join(', ')}): put back its database, or make a new one with "postrider serve --new-database", which keeps the other files`,
  );
}

function databaseOf({ directory }: FoundFiles): string {
  return join(directory, 'postrider.db');
}
