/**
 * Follows the installation while the writer thread has the database open. It is checked at the start, recorded in the
 * database and then in `installation.json`, and marked as cleanly stopped once everything is in `postrider.db` itself.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { InstallationRow } from '../own-tables.ts';
import { endOnBrokenStorage } from '../storage-failure.ts';
import { type Alarm, nextAlarm } from './alarm.ts';
import {
  type FoundFiles,
  findingsOf,
  requireDatabaseFile,
  requireSameInstallation,
  requireSchema,
} from './check.ts';
import { DataDirectoryError } from './data-directory-error.ts';
import { fileBytes, installationPath, readInstallationFile, writeInstallationFile } from './file.ts';
import {
  findInstallation,
  getInstallation,
  hasSchema,
  putInstallation,
  raiseGeneration,
  stampHeader,
} from './store.ts';
import { pastUses, type TimeSpan } from './uses.ts';

/** The installation as the start of the database found it. `wallAt` is the time that an earlier start stored. */
export type StartedInstallation = InstallationRow & {
  /** The findings of this start or an earlier one. Undefined when nothing was found within the last week. */
  alarm: Alarm | undefined;
  /** Times in which this database was in use here; the last of them has not ended. */
  uses: readonly TimeSpan[];
};

export type InstallationSession = {
  /**
   * Refuses a database that does not belong to this directory. It runs before migrations.
   * @throws DataDirectoryError
   */
  check(database: Database): void;
  /** Records the installation. It is part of the transaction that makes the start durable. */
  record(database: Database): void;
  /** Writes `installation.json` once that transaction is on disk. From then on the directory is in use. */
  begin(database: Database): StartedInstallation;
  /** Commits a later generation for the header of the database file. It runs before the WAL is copied back. */
  beforeCheckpoint(database: Database): void;
  /** Notes that everything up to that commit was copied back and flushed. */
  afterCheckpoint(): void;
  /** Updates `installation.json` after each commit that advanced the installation. */
  follow(database: Database): void;
  /** Marks a clean stop after the last commit, and before the WAL is copied back and removed. */
  end(database: Database): void;
};

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
  requireOwnWal(databaseFile, found);
  let databaseGeneration = found.file?.databaseGeneration;
  let stampedGeneration: number | undefined;
  let alarm: Alarm | undefined;
  let uses: TimeSpan[] = [];
  const write = (database: Database, walBytes: number | null) => {
    const { id, generation, wallAt } = getInstallation(database);
    const usedAt = Math.max(wallAt, nowMs);
    const state = { databaseGeneration, alarm, startedAt: nowMs, uses };
    writeInstallationFile(directory, { id, generation, usedAt, walBytes, ...state });
  };
  return {
    check(database) {
      const isMade = hasSchema(database);
      requireSchema(found, isMade);
      const row = findInstallation(database);
      requireSameInstallation(found, row);
      alarm = nextAlarm(found.file?.alarm, {
        findings: findingsOf(found, row, isMade),
        nowMs,
        databaseUsedAt: row?.wallAt ?? nowMs,
        directoryUsedAt: found.file?.usedAt,
      });
      // Files from before an alarm may be those of another database.
      uses = found.file && !alarm ? pastUses(found.file) : [];
      // This start shortens the WAL and may fail later: the next start must not report that, and must not forget what
      // this one has found.
      if (found.file && found.file.walBytes !== null)
        writeInstallationFile(directory, { ...found.file, walBytes: null, alarm });
    },
    record(database) {
      const row = findInstallation(database);
      const generation = Math.max(row?.generation ?? 0, found.file?.generation ?? 0) + 1;
      putInstallation(database, {
        id: row?.id ?? found.file?.id ?? randomUUID(),
        generation,
        wallAt: row?.wallAt ?? nowMs,
        canary: row?.canary ?? null,
        keepFilesUntil: alarm?.keepFilesUntil ?? row?.keepFilesUntil ?? null,
        restoredAt: row?.restoredAt ?? null,
      });
      stampHeader(database, generation);
      stampedGeneration = generation;
    },
    begin(database) {
      raiseGeneration(database);
      write(database, fileBytes(wal) ?? 0);
      const current = { from: nowMs, to: Number.POSITIVE_INFINITY };
      return { ...getInstallation(database), alarm, uses: [...uses, current] };
    },
    beforeCheckpoint(database) {
      // Readers may keep a checkpoint from its end for long; one generation serves all attempts until then.
      if (stampedGeneration !== undefined) return;
      stampedGeneration = database.transaction(() => {
        raiseGeneration(database);
        const { generation } = getInstallation(database);
        stampHeader(database, generation);
        return generation;
      })();
    },
    afterCheckpoint() {
      databaseGeneration = stampedGeneration ?? databaseGeneration;
      stampedGeneration = undefined;
    },
    follow: (database) => tolerating(directory, () => write(database, fileBytes(wal) ?? 0)),
    end(database) {
      tolerating(directory, () => raiseGeneration(database));
      tolerating(directory, () => write(database, null));
    },
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

/** Offsets in the header (SQLite file format, 1.3). */
const WRITE_VERSION_AT = 18;
const USER_VERSION_AT = 60;
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** The write version of a database in WAL mode. A backup made by VACUUM INTO has 1. */
const WAL_VERSION = 2;

/**
 * Requires that the WAL belongs to the database file. It opens and closes the file, which drops SQLite's locks of
 * this process, so it runs before SQLite opens the file. It recognises a restored `postrider.db` beside the WAL of a newer one, before SQLite opens them: SQLite would copy
 * pages of the newer database into the older one, and damage it. The header of the database file carries a generation
 * (its `user_version`), which the writer thread raises before it copies the WAL back. Once a copy is complete and
 * flushed, `installation.json` says which generation the header has at least. The header lies within the first sector
 * of the file, so not even a power cut during a checkpoint leaves an earlier generation or half of one there.
 * @throws DataDirectoryError
 */
function requireOwnWal(databaseFile: string, { databaseBytes, walBytes, file }: FoundFiles): void {
  const databaseGeneration = file?.databaseGeneration;
  if (!databaseBytes || !walBytes || databaseGeneration === undefined) return;
  const header = readHeader(databaseFile);
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return;
  const isOwn =
    header[WRITE_VERSION_AT] === WAL_VERSION && header.readInt32BE(USER_VERSION_AT) >= databaseGeneration;
  if (isOwn) return;
  const wal = `${databaseFile}-wal`;
  throw new DataDirectoryError(
    `${wal} belongs to a newer database than ${databaseFile}, which looks like a restored backup, and would damage it: move ${wal} and ${databaseFile}-shm to another folder than ${dirname(databaseFile)} and start again; or, if the newer database still exists, put it back`,
  );
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return header;
}
