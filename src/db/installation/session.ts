/**
 * Follows the installation while the writer thread has the database open. It is checked at the start, recorded in the
 * database and then in `installation.json`, and marked as cleanly stopped once everything is in `postrider.db` itself.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { InstallationRow } from '../own-tables.ts';
import { endOnBrokenStorage } from '../storage-failure.ts';
import { fileBytes, installationPath, readInstallationFile, writeInstallationFile } from './file.ts';
import {
  type Finding,
  type FoundFiles,
  findingsOf,
  requireDatabaseFile,
  requireSameInstallation,
  requireSchema,
} from './judge.ts';
import { findInstallation, getInstallation, hasSchema, putInstallation, raiseGeneration } from './store.ts';

/** The installation as the start of the database found it. `wallAt` is the time that an earlier start stored. */
export type StartedInstallation = InstallationRow & {
  findings: readonly Finding[];
  /** Time at which the data directory was last used, as `installation.json` says. */
  directoryUsedAt: number | undefined;
};

export type InstallationSession = {
  /**
   * Refuses a database that does not belong to this directory. It runs before migrations.
   * @throws DataDirectoryError
   */
  judge(database: Database): void;
  /** Records the installation. It is part of the transaction that makes the start durable. */
  record(database: Database): void;
  /**
   * Writes `installation.json` after that transaction is on disk and checkpointed. From then on the directory is in
   * use.
   */
  begin(database: Database): StartedInstallation;
  /** Updates `installation.json` after each commit that advanced the installation. */
  follow(database: Database): void;
  /** Marks a clean stop after everything was copied back into the database file, and before the WAL is removed. */
  end(database: Database): void;
};

/**
 * Time for which files that the database does not name are kept when it may be the wrong one, in milliseconds. Our own
 * limit.
 */
export const KEEP_FILES_MS = 7 * 86_400_000;

type Options = { file: string; nowMs: number; newDatabase: boolean };

/**
 * Reads the files before SQLite opens them.
 * @throws DataDirectoryError
 */
export function openInstallation({ file: databaseFile, nowMs, newDatabase }: Options): InstallationSession {
  const directory = dirname(databaseFile);
  const wal = `${databaseFile}-wal`;
  const found: FoundFiles = {
    directory,
    databaseBytes: fileBytes(databaseFile),
    walBytes: fileBytes(wal),
    file: readInstallationFile(directory),
    newDatabase,
  };
  requireDatabaseFile(found);
  // SQLite deletes the WAL of an empty database, and this WAL belongs to the database that was here.
  if (newDatabase && (found.databaseBytes ?? 0) === 0 && existsSync(wal))
    renameSync(wal, `${wal}.kept-${nowMs}`);
  let findings: Finding[] = [];
  const write = (database: Database, walBytes: number | null) => {
    const { id, generation, wallAt } = getInstallation(database);
    writeInstallationFile(directory, { id, generation, usedAt: Math.max(wallAt, nowMs), walBytes });
  };
  return {
    judge(database) {
      const isMade = hasSchema(database);
      requireSchema(found, isMade);
      const row = findInstallation(database);
      requireSameInstallation(found, row);
      findings = findingsOf(found, row, isMade);
      // The start shortens the WAL, and a crash may interrupt the start: the next one must not report bytes as missing
      // that this one has applied.
      if (found.file && found.file.walBytes !== null)
        writeInstallationFile(directory, { ...found.file, walBytes: null });
    },
    record(database) {
      const row = findInstallation(database);
      putInstallation(database, {
        id: row?.id ?? found.file?.id ?? randomUUID(),
        generation: Math.max(row?.generation ?? 0, found.file?.generation ?? 0) + 1,
        wallAt: row?.wallAt ?? nowMs,
        canary: row?.canary ?? null,
        keepFilesUntil: findings.length > 0 ? nowMs + KEEP_FILES_MS : (row?.keepFilesUntil ?? null),
      });
    },
    begin(database) {
      raiseGeneration(database);
      write(database, fileBytes(wal) ?? 0);
      return { ...getInstallation(database), findings, directoryUsedAt: found.file?.usedAt };
    },
    follow: (database) => tolerating(directory, () => write(database, fileBytes(wal) ?? 0)),
    end: (database) => tolerating(directory, () => write(database, null)),
  };
}

/**
 * Runs a write whose failure does not fail the commit: an outdated file proves less than a current one, but nothing
 * wrong.
 */
function tolerating(directory: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    endOnBrokenStorage(error, installationPath(directory));
  }
}
