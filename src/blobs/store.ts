/** The blobs table. Only blobs/blobs.ts decides what is stored inline. */

import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { findColumns, insertRow } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { BlobRow } from '../db/tables.ts';

/** Identifies a blob and its bytes, which are in the row itself, or in the file that is named by their hash. */
export type StoredBytes = Pick<BlobRow, 'id' | 'sha256' | 'data'>;

/** Adds the row of a blob. */
export async function insertBlob(tx: Tx, blob: BlobRow): Promise<void> {
  await insertRow(tx, 'blobs', blob);
}

/** Returns the row of a blob; undefined when it does not exist. */
export function findBlob(tx: Tx, id: string): Promise<Omit<BlobRow, 'id' | 'createdAt'> | undefined> {
  return findColumns(tx, 'blobs', {
    select: ['sha256', 'sizeBytes', 'eightBit', 'data'],
    where: { id: id as BlobRow['id'] },
  });
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

/** Returns the next blobs by id whose bytes are in files. */
export function listFilesAfter(
  tx: Tx,
  { after, limit }: { after: string; limit: number },
): Promise<Pick<BlobRow, 'id' | 'sha256'>[]> {
  return tx
    .selectFrom('blobs')
    .select(['id', 'sha256'])
    .where('id', '>', after as BlobRow['id'])
    .where('data', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();
}

const whereById = statement((db, param: Param<{ id: string }>) =>
  db
    .selectFrom('blobs')
    // SQLite tells from the header of a row whether a column is null; it does not read the bytes.
    .select(['sha256', sql<0 | 1>`data IS NULL`.as('isInFile')])
    .where('id', '=', param('id') as BlobRow['id']),
);

const emptyById = statement((db, param: Param<{ id: string }>) =>
  db
    .updateTable('blobs')
    .set({ sha256: '', sizeBytes: 0, data: sql`x''` })
    .where('id', '=', param('id') as BlobRow['id']),
);

/**
 * Frees the bytes of a blob as part of a write after which nobody needs them. The row stays, empty, for as long as
 * another row names it. Returns the bytes if they are in a file: the caller can discard it after the write, and the
 * sweep removes it otherwise.
 */
export async function emptyBlob(tx: Tx, id: BlobRow['id']): Promise<StoredBytes | undefined> {
  const blob = await whereById.first(tx, { id });
  await emptyById.all(tx, { id });
  return blob?.isInFile === 1 ? { id, sha256: blob.sha256, data: null } : undefined;
}

/** Deletes the rows of emptied blobs that no other row names any more, as part of a write. */
export async function deleteEmptyBlobs(tx: Tx, ids: readonly BlobRow['id'][]): Promise<void> {
  await tx.deleteFrom('blobs').where('id', 'in', ids).where('sha256', '=', '').execute();
}
