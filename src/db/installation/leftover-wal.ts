/**
 * Recognises a restored `postrider.db` beside the WAL of a newer one, before SQLite opens them: SQLite would copy pages of
 * the newer database into the older one, and damage it.
 *
 * The header of the database file carries a generation (its `user_version`), which the writer thread raises before it
 * copies the WAL back. Once a copy is complete and flushed, `installation.json` says which generation the header has at
 * least. The header lies within the first sector of the file, so not even a power cut during a checkpoint leaves an
 * earlier generation or half of one there.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataDirectoryError } from './data-directory-error.ts';
import type { FoundFiles } from './judge.ts';

/** Offsets in the header (SQLite file format, 1.3). */
const WRITE_VERSION_AT = 18;
const USER_VERSION_AT = 60;
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** The write version of a database in WAL mode. A backup made by VACUUM INTO has 1. */
const WAL_VERSION = 2;

/**
 * Requires that the WAL belongs to the database file. It opens and closes the file, which drops SQLite's locks of
 * this process, so it runs before SQLite opens the file.
 * @throws DataDirectoryError
 */
export function requireOwnWal(databaseFile: string, { databaseBytes, walBytes, file }: FoundFiles): void {
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
