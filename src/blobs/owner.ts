/** The owner of blobs: a database whose rows name them, and the folder that holds the large ones. */
import { join } from 'node:path';
import type { Db } from '../db/database.ts';
import type { TimeSpan } from '../db/installation/uses.ts';
import type { BlobRow } from '../db/tables.ts';
import { findBlob, isFileInUse } from './store.ts';

export type BlobOwner = {
  /** Folder of the files. No two owners share one, since each removes the files that its own rows do not name. */
  root: string;
  /** Returns the row of a blob; undefined when it does not exist. */
  find(id: string): Promise<Omit<BlobRow, 'id' | 'createdAt'> | undefined>;
  /** Returns true when a row names the file with this hash. */
  isFileInUse(sha256: string): Promise<boolean>;
  /** Wall time until which no file is removed, because the database may be the wrong one; null when it is not. */
  keepFilesUntil: number | null;
  /** Times in which the database was in use here (db/installation/uses.ts). */
  uses: readonly TimeSpan[];
};

/** Returns the main database of a data directory as the owner of the blobs of messages, imports and exports. */
export function mainOwner(db: Pick<Db, 'read' | 'installation'>, dataDir: string): BlobOwner {
  const { keepFilesUntil, uses } = db.installation;
  return {
    root: blobFolder(dataDir),
    find: (id) => findBlob(db.read, id),
    isFileInUse: (sha256) => isFileInUse(db.read, sha256),
    keepFilesUntil,
    uses,
  };
}

/** Returns the folder of the files that belong to the main database. */
export function blobFolder(dataDir: string): string {
  return join(dataDir, 'blobs');
}
