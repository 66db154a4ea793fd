/** Queries that compare the rows of an account with each other, and its structure with what SQLite expects. */
import type { Database } from 'better-sqlite3';
import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import type { AccountTx } from './store.ts';

/**
 * Returns what is wrong with the structure of all tables and indexes, except that of contentBytes, which holds nearly all of the bytes;
 * each of its rows has a checksum that is compared when the row is read.
 *
 * @param isQuick leaves out that indexes are compared with their tables
 */
export function findStructuralDamage(connection: Database, { isQuick }: { isQuick: boolean }): string[] {
  const tables = connection
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'contentBytes'")
    .pluck()
    .all();
  const pragma = isQuick ? 'quick_check' : 'integrity_check';
  return tables
    .flatMap((table) => (connection.pragma(`${pragma}("${table}")`) as object[]).flatMap(Object.values))
    .filter((finding): finding is string => finding !== 'ok');
}

type CountedFolder = {
  id: number;
  name: string;
  stored: string;
  counted: string;
};

/** Returns the folders whose counts are not those of their messages, or whose next UID or modseq is too low. */
export async function listWrongFolders(tx: AccountTx): Promise<CountedFolder[]> {
  const { rows } = await sql<CountedFolder>`
    SELECT id, name,
      printf('%d messages, %d unseen, %d deleted, %d bytes', messageCount, unseenCount, deletedCount, sizeBytes) AS stored,
      printf('%d messages, %d unseen, %d deleted, %d bytes', messages, unseen, deleted, bytes) AS counted
    FROM (
      SELECT folders.*,
        count(uid) AS messages,
        ifnull(sum(flags & 1 = 0), 0) AS unseen,
        ifnull(sum(flags & 8 <> 0), 0) AS deleted,
        ifnull(sum(messages.sizeBytes), 0) AS bytes,
        ifnull(max(uid), 0) AS lastUid,
        ifnull(max(modseq), 0) AS lastModseq
      FROM folders LEFT JOIN messages ON folderId = id GROUP BY id
    )
    WHERE messages <> messageCount OR bytes <> sizeBytes
      OR ((unseen <> unseenCount OR deleted <> deletedCount) AND id NOT IN (SELECT folderId FROM pendingEdits))
      OR lastUid >= uidNext OR lastModseq > highestModseq`.execute(tx);
  return rows;
}

/** Returns the differences between the row of the account and its folders, in words. */
export async function describeWrongAccount(tx: AccountTx): Promise<string[]> {
  const { rows } = await sql<{ finding: string }>`
    SELECT printf('the account has %d messages in %d bytes, and its folders have %d in %d',
        account.messageCount, usedBytes, messages, bytes) AS finding
      FROM account, (SELECT total(messageCount) AS messages, total(sizeBytes) AS bytes FROM folders)
      WHERE account.messageCount <> messages OR usedBytes <> bytes
    UNION ALL
    SELECT 'a folder has a higher modseq than the account' FROM account
      WHERE EXISTS (SELECT 1 FROM folders WHERE highestModseq > lastModseq)
    UNION ALL
    SELECT 'two folders have the same UIDVALIDITY, or one has a later one than the account' FROM account
      WHERE (SELECT count(*) <> count(DISTINCT uidValidity) OR max(uidValidity) > lastUidValidity FROM folders)
    UNION ALL
    SELECT printf('%d messages have no content', lost) AS finding
      FROM (SELECT count(*) AS lost FROM messages WHERE contentId NOT IN (SELECT id FROM contents)) WHERE lost > 0
    UNION ALL
    SELECT printf('%d contents have no bytes', lost) AS finding
      FROM (SELECT count(*) AS lost FROM contents WHERE id NOT IN (SELECT contentId FROM contentBytes)) WHERE lost > 0`.execute(
    tx,
  );
  return rows.map(({ finding }) => finding);
}

const idsBehind = statement((db: AccountTx, param: Param<{ after: number }>) =>
  db.selectFrom('contents').select('id').where('id', '>', param('after')).orderBy('id').limit(100),
);

/** Returns the ids of contents behind one, at most 100. */
export async function listContentIds(tx: AccountTx, after: number): Promise<number[]> {
  return (await idsBehind.all(tx, { after })).map(({ id }) => id);
}

/** Returns where the messages with a content are, such as `INBOX 17`. */
export async function placesOf(tx: AccountTx, contentId: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('messages')
    .leftJoin('folders', 'folders.id', 'messages.folderId')
    .select(['name', 'uid'])
    .where('contentId', '=', contentId)
    .execute();
  return rows.map(({ name, uid }) => `${name ?? 'a deleted folder'} ${uid}`);
}
