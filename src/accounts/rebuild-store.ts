/** Fills the database of an account with rows that were salvaged from a damaged one (repair.ts). */

import type { Database } from 'better-sqlite3';
import { sql } from 'kysely';
import type { AccountTables } from './rows.ts';
import { deleteRows, updateRows } from './rows.ts';
import type { AccountTx } from './store.ts';

/**
 * Returns a function that adds a row as it was, and returns false when it does not fit: a value has another type, or another row has
 * its key.
 */
export function rowInserter<Name extends keyof AccountTables>(
  database: Database,
  table: Name,
): (row: AccountTables[Name]) => boolean {
  return (row) => {
    const columns = Object.keys(row);
    const names = columns.map((column) => `"${column}"`).join(', ');
    try {
      const statement = database.prepare(
        `INSERT INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`,
      );
      return statement.run(...Object.values(row)).changes === 1;
    } catch {
      return false;
    }
  };
}

/** Removes the row of a content, so that it can be added with other values. */
export async function forgetContent(tx: AccountTx, id: number): Promise<void> {
  await deleteRows(tx, 'contents', { id });
  await deleteRows(tx, 'contentBytes', { contentId: id });
}

/** Gives a folder another id, which is free. */
export async function renumberFolder(tx: AccountTx, from: number, to: number): Promise<void> {
  await updateRows(tx, 'folders', { set: { id: to }, where: { id: from } });
}

/** Removes contents without bytes. */
export async function removeEmptyContents(tx: AccountTx): Promise<void> {
  await sql`DELETE FROM contents WHERE id NOT IN (SELECT contentId FROM contentBytes)`.execute(tx);
}

/** Gives a folder another UIDVALIDITY. Its tombstones are not kept. */
export async function setUidValidity(tx: AccountTx, id: number, uidValidity: number): Promise<void> {
  await tx
    .updateTable('folders')
    .set(({ ref }) => ({ uidValidity, tombstoneFloor: ref('highestModseq'), recentFrom: 1 }))
    .where('id', '=', id)
    .execute();
}

/** Returns the ids of contents that no message has. */
export async function listUnusedContents(tx: AccountTx): Promise<number[]> {
  const { rows } = await sql<{
    id: number;
  }>`SELECT id FROM contents WHERE id NOT IN (SELECT contentId FROM messages) ORDER BY id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Returns the messages whose content is lost, in words such as `INBOX 17`, and removes them. */
export async function removeLostMessages(tx: AccountTx): Promise<string[]> {
  const { rows } = await sql<{ place: string }>`
    SELECT ifnull(name, 'a lost folder') || ' ' || uid AS place
      FROM messages LEFT JOIN folders ON folders.id = folderId
      WHERE contentId NOT IN (SELECT id FROM contents) ORDER BY place`.execute(tx);
  await sql`DELETE FROM messages WHERE contentId NOT IN (SELECT id FROM contents)`.execute(tx);
  return rows.map(({ place }) => place);
}

/** Returns the ids of folders that messages name and that have no row. */
export async function listLostFolders(tx: AccountTx): Promise<number[]> {
  const { rows } = await sql<{
    id: number;
  }>`SELECT DISTINCT folderId AS id FROM messages WHERE folderId NOT IN (SELECT id FROM folders)`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Counts the messages of all folders and of the account again. */
export async function recount(tx: AccountTx): Promise<void> {
  await sql`UPDATE messages SET keywordSetId = 0 WHERE keywordSetId NOT IN (SELECT id FROM keywordSets)`.execute(
    tx,
  );
  await sql`
    UPDATE folders SET
      messageCount = (SELECT count(*) FROM messages WHERE folderId = folders.id),
      unseenCount = (SELECT count(*) FROM messages WHERE folderId = folders.id AND flags & 1 = 0),
      deletedCount = (SELECT count(*) FROM messages WHERE folderId = folders.id AND flags & 8 <> 0),
      sizeBytes = (SELECT ifnull(sum(messages.sizeBytes), 0) FROM messages WHERE folderId = folders.id),
      uidNext = max(uidNext, (SELECT ifnull(max(uid), 0) + 1 FROM messages WHERE folderId = folders.id)),
      highestModseq = max(highestModseq, (SELECT ifnull(max(modseq), 0) FROM messages WHERE folderId = folders.id))`.execute(
    tx,
  );
  await sql`
    UPDATE account SET
      messageCount = (SELECT ifnull(sum(messageCount), 0) FROM folders),
      usedBytes = (SELECT ifnull(sum(sizeBytes), 0) FROM folders),
      lastModseq = max(lastModseq, (SELECT max(highestModseq) FROM folders))`.execute(tx);
}
