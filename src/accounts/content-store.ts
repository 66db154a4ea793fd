/** Stores the bytes of messages and what is known of them. All SQL of these tables is here, and nothing else writes them. */

import { sql } from 'kysely';
import { type Param, paramsOf, statement } from '../db/statement.ts';
import { findColumns, findRow, insertRow, insertRowOnce } from './rows.ts';
import type { AccountTx } from './store.ts';
import type { ContentBytesRow, ContentRow } from './tables.ts';

export type NewContent = Omit<ContentRow, 'id'>;

const insert = statement((db: AccountTx, param: Param<ContentRow>) =>
  db.insertInto('contents').values({
    ...paramsOf(param, ['id', 'sizeBytes', 'crc32', 'blobSha256', 'parserVersion', 'isOpaque', 'root']),
    ...paramsOf(param, [
      'envelope',
      'envelopeUtf8',
      'body',
      'bodyUtf8',
      'bodyStructure',
      'bodyStructureUtf8',
    ]),
    ...paramsOf(param, ['sort', 'messageId', 'references', 'preview']),
  }),
);

type NewBytes = Omit<ContentBytesRow, 'contentId'>;

/** Adds a content and returns its id. */
export async function insertContent(tx: AccountTx, row: NewContent, bytes: NewBytes): Promise<number> {
  const id = await nextContentId(tx);
  await insertSalvagedContent(tx, { id, ...row }, bytes);
  return id;
}

/** Adds a content with the id that it had in a damaged database. */
export async function insertSalvagedContent(tx: AccountTx, row: ContentRow, bytes: NewBytes): Promise<void> {
  await insert.all(tx, row);
  await insertRow(tx, 'contentBytes', { contentId: row.id, header: bytes.header, body: bytes.body });
}

/**
 * Number of ids of contents that are reserved at a time. SQLite keeps the highest id that the table has had in a row of its own, which
 * each content would change: one page more of every commit.
 */
const RESERVED_IDS = 64;

/** The ids that are reserved and not used, by the database. Those that are left when it is closed are never used. */
const reserved = new WeakMap<AccountTx, { next: number; last: number }>();

const raiseHighest = statement((db: AccountTx, param: Param<{ ids: number }>) => ({
  compile: () =>
    sql<{ seq: number }>`UPDATE sqlite_sequence SET seq = seq + ${param('ids')} WHERE name = 'contents'
      RETURNING seq`.compile(db),
}));

const setHighest = statement((db: AccountTx, param: Param<{ ids: number }>) => ({
  compile: () =>
    sql`INSERT INTO sqlite_sequence (name, seq) VALUES ('contents', ${param('ids')})`.compile(db),
}));

/** Returns an id that no content has had. When a rollback has undone the reservation, SQLite raises the highest id with the content. */
async function nextContentId(tx: AccountTx): Promise<number> {
  const known = reserved.get(tx);
  const ids = known && known.next <= known.last ? known : await reserveIds(tx);
  return ids.next++;
}

async function reserveIds(tx: AccountTx): Promise<{ next: number; last: number }> {
  const raised = await raiseHighest.first(tx, { ids: RESERVED_IDS });
  if (!raised) await setHighest.all(tx, { ids: RESERVED_IDS });
  const last = raised?.seq ?? RESERVED_IDS;
  const ids = { next: last - RESERVED_IDS + 1, last };
  reserved.set(tx, ids);
  return ids;
}

/** Returns what is known of a content; undefined when it was removed. */
export function findContent(tx: AccountTx, id: number): Promise<ContentRow | undefined> {
  return findRow(tx, 'contents', { id });
}

type StoredContent = Pick<ContentRow, 'sizeBytes' | 'crc32' | 'blobSha256'> &
  Pick<ContentBytesRow, 'header' | 'body'>;

const bytesById = statement((db: AccountTx, param: Param<{ id: number }>) =>
  db
    .selectFrom('contents')
    .innerJoin('contentBytes', 'contentId', 'id')
    .select(['sizeBytes', 'crc32', 'blobSha256', 'contentBytes.header', 'contentBytes.body'])
    .where('id', '=', param('id')),
);

/** Returns the bytes of a content, or the file that holds them; undefined when it was removed. */
export function findStoredContent(tx: AccountTx, id: number): Promise<StoredContent | undefined> {
  return bytesById.first(tx, { id });
}

/** Returns the header of a content; undefined when the content was removed. */
export async function findHeader(tx: AccountTx, contentId: number): Promise<Uint8Array | undefined> {
  return (await findColumns(tx, 'contentBytes', { select: ['header'], where: { contentId } }))?.header;
}

/** Returns true when a content is in the file with this hash. */
export async function isFileInUse(tx: AccountTx, sha256: string): Promise<boolean> {
  return (await findColumns(tx, 'contents', { select: ['id'], where: { blobSha256: sha256 } })) !== undefined;
}

/**
 * Notes that contents have lost a message. Every write that removes messages calls it. Those that no message has, and that no
 * session needs, are removed later (remove-unused.ts).
 */
export async function releaseContents(tx: AccountTx, contentIds: Iterable<number>): Promise<void> {
  for (const contentId of contentIds) await insertRowOnce(tx, 'releasedContents', { contentId });
}

const released = statement((db: AccountTx, param: Param<{ after: number; count: number }>) =>
  db
    .selectFrom('releasedContents')
    .select('contentId')
    .where('contentId', '>', param('after'))
    .orderBy('contentId')
    .limit(sql<number>`${param('count')}`),
);

/** Returns ids of contents that lost a message, from the one behind `after` on. */
export async function listReleased(tx: AccountTx, after: number, count: number): Promise<number[]> {
  return (await released.all(tx, { after, count })).map(({ contentId }) => contentId);
}

/** Maximum number of contents that are added up, which takes some milliseconds. */
const MAX_ADDED_UP = 10_000;

const releasedSize = statement((db: AccountTx) =>
  db
    .selectFrom('contents')
    .select(sql<number>`coalesce(sum("sizeBytes"), 0)`.as('bytes'))
    .where('id', 'in', (where) =>
      where.selectFrom('releasedContents').select('contentId').limit(sql.lit(MAX_ADDED_UP)),
    ),
);

/** Returns the size of contents that lost a message and are still on disk. */
export async function readReleasedBytes(tx: AccountTx): Promise<number> {
  return (await releasedSize.first(tx, {}))?.bytes ?? 0;
}

/** Removes contents unless a message has them. Returns the ids of those that were removed, and the hashes of their files. */
export async function removeUnusedContents(
  tx: AccountTx,
  contentIds: readonly number[],
): Promise<{ removed: number[]; files: string[] }> {
  if (contentIds.length === 0) return { removed: [], files: [] };
  const rows = await tx
    .deleteFrom('contents')
    .where('id', 'in', contentIds)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('messages').select('uid').whereRef('messages.contentId', '=', 'contents.id'))),
    )
    .returning(['id', 'blobSha256'])
    .execute();
  const removed = rows.map(({ id }) => id);
  if (removed.length > 0) await tx.deleteFrom('contentBytes').where('contentId', 'in', removed).execute();
  await tx.deleteFrom('releasedContents').where('contentId', 'in', contentIds).execute();
  const files = rows.flatMap(({ blobSha256 }) => (blobSha256 === null ? [] : [blobSha256]));
  return { removed, files: [...new Set(files)] };
}
