/** The blobs table. Only blobs/blobs.ts decides what is stored inline. */
import type { Tx } from '../db/operation.ts';
import { type Param, statement } from '../db/statement.ts';
import type { BlobRow } from '../db/tables.ts';

/** Identifies a blob and its bytes, which are in the row itself, or in the file that is named by their hash. */
export type StoredBytes = Pick<BlobRow, 'id' | 'sha256' | 'data'>;

const insert = statement((db, param: Param<BlobRow>) =>
  db.insertInto('blobs').values({
    id: param('id'),
    sha256: param('sha256'),
    sizeBytes: param('sizeBytes'),
    eightBit: param('eightBit'),
    data: param('data'),
    createdAt: param('createdAt'),
  }),
);

/** Adds the row of a blob. */
export async function insertBlob(tx: Tx, blob: BlobRow): Promise<void> {
  await insert.all(tx, blob);
}

const byId = statement((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('blobs')
    .select(['sha256', 'sizeBytes', 'eightBit', 'data'])
    .where('id', '=', param('id') as BlobRow['id']),
);

/** Returns the row of a blob; undefined when it does not exist. */
export function findBlob(tx: Tx, id: string): Promise<Omit<BlobRow, 'id' | 'createdAt'> | undefined> {
  return byId.first(tx, { id });
}

/** Returns true when a row names the file with this hash. */
export async function isFileInUse(tx: Tx, sha256: string): Promise<boolean> {
  const row = await tx
    .selectFrom('blobs')
    .select('id')
    .where('sha256', '=', sha256)
    .where('data', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Removes the bytes from a blob that nobody needs any more. It is part of the write after which that is so. It
 * returns the blob when its bytes are in a file, so that the caller can discard the file after the commit; otherwise
 * the sweep removes the file. The row itself stays, because to delete it SQLite would search all messages for one
 * that names it.
 */
export async function emptyBlob(tx: Tx, id: BlobRow['id']): Promise<StoredBytes | undefined> {
  const blob = await findBlob(tx, id);
  const empty = { sha256: '', sizeBytes: 0, data: new Uint8Array() };
  await tx.updateTable('blobs').set(empty).where('id', '=', id).execute();
  return blob?.data === null ? { id, sha256: blob.sha256, data: null } : undefined;
}
