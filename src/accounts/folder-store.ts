/** Stores folders, their counts and subscriptions. All SQL of these tables is here, and nothing else writes them. */

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import { deleteRows, findRow, insertRowOnce, listRows, updateRows } from './rows.ts';
import { type AccountTx, changeUsage, nextModseq, nextUidValidity } from './store.ts';
import type { FolderRow } from './tables.ts';

/** Returns the folder with this name; undefined when there is none. */
export function findFolderByName(tx: AccountTx, name: string): Promise<FolderRow | undefined> {
  return findRow(tx, 'folders', { name });
}

/** Returns the folder with this special use, such as `\\Junk`; undefined when there is none. */
export async function findFolderBySpecialUse(
  tx: AccountTx,
  specialUse: string,
): Promise<FolderRow | undefined> {
  return (await listRows(tx, 'folders', { where: { specialUse }, orderBy: 'id' }))[0];
}

/** Returns a folder; undefined when it was deleted. */
export function findFolderById(tx: AccountTx, id: number): Promise<FolderRow | undefined> {
  return findRow(tx, 'folders', { id });
}

const all = statement((db: AccountTx) => db.selectFrom('folders').selectAll().orderBy('name'));

/** Returns all folders by name. Their number is limited by MAX_FOLDERS (folders.ts). */
export function listFolderRows(tx: AccountTx): Promise<FolderRow[]> {
  return all.all(tx, {});
}

type NewFolder = { name: string; specialUse: string | null; now: number };

/** Adds an empty folder with a new UIDVALIDITY and a new modseq. */
export async function insertFolder(tx: AccountTx, { name, specialUse, now }: NewFolder): Promise<FolderRow> {
  const modseq = await nextModseq(tx);
  return tx
    .insertInto('folders')
    .values({
      name,
      objectId: `F${randomBytes(12).toString('base64url')}`,
      uidValidity: await nextUidValidity(tx, now),
      uidNext: 1,
      highestModseq: modseq,
      specialUse,
      messageCount: 0,
      unseenCount: 0,
      deletedCount: 0,
      sizeBytes: 0,
      recentFrom: 1,
      tombstoneFloor: 0,
      createdModseq: modseq,
    } as FolderRow)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Differences of the counts of a folder, and the number of the change that makes them. */
type CountChange = Pick<FolderRow, 'messageCount' | 'unseenCount' | 'deletedCount' | 'sizeBytes'> & {
  folderId: number;
  modseq: number;
};

const addCounts = statement((db: AccountTx, param: Param<CountChange & { uids: number }>) =>
  db
    .updateTable('folders')
    .set({
      uidNext: sql`uidNext + ${param('uids')}`,
      highestModseq: sql`max(highestModseq, ${param('modseq')})`,
      messageCount: sql`messageCount + ${param('messageCount')}`,
      unseenCount: sql`unseenCount + ${param('unseenCount')}`,
      deletedCount: sql`deletedCount + ${param('deletedCount')}`,
      sizeBytes: sql`sizeBytes + ${param('sizeBytes')}`,
    })
    .where('id', '=', param('folderId'))
    .returning('uidNext'),
);

/**
 * Adds to the counts of a folder and of the account, and sets HIGHESTMODSEQ. Every write that changes or removes messages calls it once
 * for each folder.
 */
export async function changeCounts(tx: AccountTx, change: CountChange): Promise<void> {
  await addCounts.first(tx, { ...change, uids: 0 });
  const { sizeBytes: usedBytes, messageCount } = change;
  if (usedBytes !== 0 || messageCount !== 0) await changeUsage(tx, { usedBytes, messageCount });
}

/** Begins a change that adds messages, which the caller inserts. Returns its number, and the first one of their UIDs. */
export async function countAdded(
  tx: AccountTx,
  counts: Omit<CountChange, 'modseq'>,
): Promise<{ modseq: number; firstUid: number }> {
  const { sizeBytes: usedBytes, messageCount } = counts;
  const modseq = await nextModseq(tx, { usedBytes, messageCount });
  const row = await addCounts.first(tx, { ...counts, modseq, uids: messageCount });
  if (!row) throw new Error(`folder ${counts.folderId} does not exist`);
  return { modseq, firstUid: row.uidNext - messageCount };
}

const takeUids = statement((db: AccountTx, param: Param<{ id: number; count: number }>) =>
  db
    .updateTable('folders')
    .set({ uidNext: sql`uidNext + ${param('count')}` })
    .where('id', '=', param('id'))
    .returning('uidNext'),
);

/** Reserves UIDs for messages that are added, and returns the first one. */
export async function reserveUids(tx: AccountTx, id: number, count: number): Promise<number> {
  const row = await takeUids.first(tx, { id, count });
  if (!row) throw new Error(`folder ${id} does not exist`);
  return row.uidNext - count;
}

const below = statement((db: AccountTx, param: Param<{ from: string; to: string }>) =>
  db
    .selectFrom('folders')
    .select('id')
    .where('name', '>=', param('from'))
    .where('name', '<', param('to'))
    .limit(1),
);

/** Returns true when there are folders below this name. */
export async function hasFoldersBelow(tx: AccountTx, name: string): Promise<boolean> {
  // `0` follows the separator in the order of names.
  return (await below.first(tx, { from: `${name}/`, to: `${name}0` })) !== undefined;
}

/** Returns true when the name is subscribed. */
export async function isSubscribed(tx: AccountTx, name: string): Promise<boolean> {
  return (await findRow(tx, 'subscriptions', { name })) !== undefined;
}

const subscribed = statement((db: AccountTx) =>
  db.selectFrom('subscriptions').select('name').orderBy('name'),
);

/** Returns the names that are subscribed, also those of folders that do not exist. */
export async function listSubscriptions(tx: AccountTx): Promise<string[]> {
  return (await subscribed.all(tx, {})).map(({ name }) => name);
}

/** Subscribes a name. */
export async function insertSubscription(tx: AccountTx, name: string): Promise<void> {
  await insertRowOnce(tx, 'subscriptions', { name });
}

/** Removes a subscription. */
export async function deleteSubscription(tx: AccountTx, name: string): Promise<void> {
  await deleteRows(tx, 'subscriptions', { name });
}

/** Gives a folder another name. */
export async function renameFolderRow(tx: AccountTx, id: number, name: string): Promise<void> {
  await updateRows(tx, 'folders', { set: { name }, where: { id } });
}

/** Removes the row of a folder. Its messages are removed later, and its id is never used again. */
export async function deleteFolderRow(tx: AccountTx, id: number): Promise<void> {
  await deleteRows(tx, 'folders', { id });
}

/** Notes that expunges up to a modseq may have been forgotten. */
export async function raiseTombstoneFloor(tx: AccountTx, id: number, modseq: number): Promise<void> {
  await tx
    .updateTable('folders')
    .set({ tombstoneFloor: sql`max(tombstoneFloor, ${modseq})` })
    .where('id', '=', id)
    .execute();
}

/** Sets the first UID that is `\Recent` for the next session that selects the folder to write. */
export async function updateRecentFrom(
  tx: AccountTx,
  folder: Pick<FolderRow, 'id' | 'recentFrom'>,
): Promise<void> {
  await updateRows(tx, 'folders', { set: { recentFrom: folder.recentFrom }, where: { id: folder.id } });
}
