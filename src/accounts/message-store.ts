/** Stores messages. All SQL of this table is here, except what reads messages with their contents, and nothing else writes it. */

import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import { nextSlice } from '../system/slices.ts';
import type { AddedMessage, FlagEdit } from './changes.ts';
import { insertExpunged } from './expunged-store.ts';
import { DELETED, SEEN } from './flags.ts';
import { findRow, insertRow } from './rows.ts';
import type { AccountTx } from './store.ts';
import type { MessageRow } from './tables.ts';

/** Adds a message. The caller changes the counts of the folder (`countAdded`). */
export async function insertMessage(tx: AccountTx, row: MessageRow): Promise<void> {
  await insertRow(tx, 'messages', row);
}

/** Returns a message; undefined when it was removed. */
export function findMessage(
  tx: AccountTx,
  key: Pick<MessageRow, 'folderId' | 'uid'>,
): Promise<MessageRow | undefined> {
  return findRow(tx, 'messages', { folderId: key.folderId, uid: key.uid });
}

type Move = { from: number; to: number; modseq: number };

const setFolder = statement((db: AccountTx, param: Param<Move & { afterUid: number; lastUid: number }>) =>
  db
    .updateTable('messages')
    .set({ folderId: param('to'), modseq: param('modseq'), createdModseq: param('modseq') })
    .where('folderId', '=', param('from'))
    .where('uid', '>', param('afterUid'))
    .where('uid', '<=', param('lastUid')),
);

/** Number of messages that are moved before other accounts of the thread go on: about 5 ms. */
const MOVED_PER_SLICE = 500;

/** Moves all messages of a folder to another one, where their UIDs are free. Returns what they were, by UID. */
export async function moveAllMessages(tx: AccountTx, { from, to, modseq }: Move): Promise<MessageRow[]> {
  const moved: MessageRow[] = [];
  for (let afterUid = 0; ; await nextSlice()) {
    const rows = await listMessagesAfter(tx, { folderId: from, afterUid, limit: MOVED_PER_SLICE });
    const last = rows.at(-1);
    if (!last) break;
    await setFolder.all(tx, { from, to, modseq, afterUid, lastUid: last.uid });
    afterUid = last.uid;
    for (const row of rows) moved.push(row);
  }
  await insertExpunged(tx, { folderId: from, modseq, uids: moved.map(({ uid }) => uid) });
  return moved;
}

/** Returns the ids of folders that were deleted and still have messages or tombstones. Only the first row of each folder is read. */
export async function listOrphanedFolders(tx: AccountTx): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    WITH RECURSIVE
      withMessages (id) AS (
        SELECT min(folderId) FROM messages
        UNION ALL
        SELECT (SELECT min(folderId) FROM messages WHERE folderId > id) FROM withMessages WHERE id IS NOT NULL
      ),
      withTombstones (id) AS (
        SELECT min(folderId) FROM expunged
        UNION ALL
        SELECT (SELECT min(folderId) FROM expunged WHERE folderId > id) FROM withTombstones WHERE id IS NOT NULL
      )
    SELECT id FROM withMessages WHERE id NOT IN (SELECT id FROM folders)
    UNION
    SELECT id FROM withTombstones WHERE id NOT IN (SELECT id FROM folders)`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Removes messages of a deleted folder, at most `count`. Returns the ids of their contents. */
export async function deleteSomeMessages(tx: AccountTx, folderId: number, count: number): Promise<number[]> {
  const rows = await tx
    .deleteFrom('messages')
    .where('folderId', '=', folderId)
    .where('uid', 'in', (db) =>
      db.selectFrom('messages').select('uid').where('folderId', '=', folderId).orderBy('uid').limit(count),
    )
    .returning('contentId')
    .execute();
  return rows.map(({ contentId }) => contentId);
}

type After = { folderId: number; afterUid: number; limit: number };

const messagesAfter = statement((db: AccountTx, param: Param<After>) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('folderId', '=', param('folderId'))
    .where('uid', '>', param('afterUid'))
    .orderBy('uid')
    .limit(param('limit')),
);

/** Returns the next messages of a folder by UID. */
export function listMessagesAfter(tx: AccountTx, after: After): Promise<MessageRow[]> {
  return messagesAfter.all(tx, after);
}

/** UIDs of a folder. Both ends belong to the range. */
export type UidRange = { folderId: number; uidFrom: number; uidTo: number };

const summariesIn = statement((db: AccountTx, param: Param<UidRange & { limit: number }>) =>
  db
    .selectFrom('messages')
    .select(['uid', 'contentId', 'flags', 'keywordSetId', 'modseq', 'sizeBytes'])
    .where('folderId', '=', param('folderId'))
    .where('uid', '>=', param('uidFrom'))
    .where('uid', '<=', param('uidTo'))
    .orderBy('uid')
    .limit(param('limit')),
);

type Summary = AddedMessage & Pick<MessageRow, 'sizeBytes'>;

/** Returns the changing facts, the contents and the sizes of at most `limit` messages, by UID. */
export function listSummaries(
  tx: AccountTx,
  range: UidRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Summary[]> {
  return summariesIn.all(tx, { ...range, limit });
}

const lastOf = statement((db: AccountTx, param: Param<UidRange & { offset: number }>) =>
  db
    .selectFrom('messages')
    .select('uid')
    .where('folderId', '=', param('folderId'))
    .where('uid', '>=', param('uidFrom'))
    .where('uid', '<=', param('uidTo'))
    .orderBy('uid')
    .limit(1)
    .offset(param('offset')),
);

/** Returns the UID of the last one of the first `count` messages of a range; undefined when it has fewer. */
export async function findLastUid(
  tx: AccountTx,
  { count, folderId, uidFrom, uidTo }: UidRange & { count: number },
): Promise<number | undefined> {
  return (await lastOf.first(tx, { folderId, uidFrom, uidTo, offset: count - 1 }))?.uid;
}

const prefixesIn = statement((db: AccountTx, param: Param<UidRange>) =>
  db
    .selectFrom('messages')
    .select(['uid', 'prefix'])
    .where('folderId', '=', param('folderId'))
    .where('uid', '>=', param('uidFrom'))
    .where('uid', '<=', param('uidTo'))
    .where(sql<number>`length(prefix)`, '>', 0),
);

/** Returns the prefixes of the messages of a range that have one. */
export function listPrefixes(tx: AccountTx, range: UidRange): Promise<Pick<MessageRow, 'uid' | 'prefix'>[]> {
  return prefixesIn.all(tx, range);
}

type EditInFolder = FlagEdit & { folderId: number };

/**
 * Returns the SQL of an edit of flags: the new values, and the messages that get other values. FolderState edits its copy in the same
 * way.
 */
function sqlOfEdit(param: Param<EditInFolder>) {
  const flags = sql<number>`((flags & ${param('keptFlags')}) | ${param('addedFlags')})`;
  const keywordSetId = sql<number>`ifnull(${param('keywordSetId')}, "keywordSetId")`;
  const isInRange = sql<boolean>`"folderId" = ${param('folderId')} AND uid >= ${param('uidFrom')} AND uid <= ${param('uidTo')}
    AND modseq <= ifnull(${param('unchangedSince')}, modseq)`;
  const isChanged = sql<boolean>`${isInRange} AND (flags <> ${flags} OR "keywordSetId" <> ${keywordSetId})`;
  return { flags, keywordSetId, isInRange, isChanged };
}

const firstChanged = statement((db: AccountTx, param: Param<EditInFolder>) =>
  db.selectFrom('messages').select('uid').where(sqlOfEdit(param).isChanged).limit(1),
);

/** Returns true when a message would have other flags than before. */
export async function hasEffect(tx: AccountTx, folderId: number, edit: FlagEdit): Promise<boolean> {
  return (await firstChanged.first(tx, { folderId, ...edit })) !== undefined;
}

const countChanges = statement((db: AccountTx, param: Param<EditInFolder>) => {
  const { flags, isInRange } = sqlOfEdit(param);
  return db
    .selectFrom('messages')
    .select([
      sql<number>`ifnull(sum((${flags} & ${SEEN} = 0) - (flags & ${SEEN} = 0)), 0)`.as('unseen'),
      sql<number>`ifnull(sum((${flags} & ${DELETED} <> 0) - (flags & ${DELETED} <> 0)), 0)`.as('deleted'),
    ])
    .where(isInRange);
});

/** Returns how the numbers of messages without `\Seen` and with `\Deleted` change. */
export async function countEdit(
  tx: AccountTx,
  folderId: number,
  edit: FlagEdit,
): Promise<{ unseen: number; deleted: number }> {
  return (await countChanges.first(tx, { folderId, ...edit })) ?? { unseen: 0, deleted: 0 };
}

const edit = statement((db: AccountTx, param: Param<EditInFolder & { modseq: number }>) => {
  const { flags, keywordSetId, isChanged } = sqlOfEdit(param);
  return db
    .updateTable('messages')
    .set({ flags, keywordSetId, modseq: param('modseq') })
    .where(isChanged);
});

/** Changes the flags of the messages that would have other ones. The caller changes the counts of the folder (`changeCounts`). */
export async function editFlags(
  tx: AccountTx,
  change: Pick<MessageRow, 'folderId' | 'modseq'>,
  flagEdit: FlagEdit,
): Promise<void> {
  await edit.all(tx, { ...change, ...flagEdit });
}

const changedSince = statement((db: AccountTx, param: Param<UidRange & { modseq: number }>) =>
  db
    .selectFrom('messages')
    .select('uid')
    .where('folderId', '=', param('folderId'))
    .where('uid', '>=', param('uidFrom'))
    .where('uid', '<=', param('uidTo'))
    .where('modseq', '>', param('modseq'))
    .orderBy('uid'),
);

/** Returns the UIDs of the messages of a range that were changed after a modseq. */
export async function listChangedSince(
  tx: AccountTx,
  range: UidRange & { modseq: number },
): Promise<number[]> {
  return (await changedSince.all(tx, range)).map(({ uid }) => uid);
}

type Copy = UidRange & { toFolderId: number; uidNext: number; modseq: number; savedAt: number };

const copyRange = statement((db: AccountTx, param: Param<Copy>) => ({
  compile: () =>
    sql<{ uid: number }>`
      INSERT INTO messages ("folderId", uid, "emailId", "contentId", modseq, "createdModseq", flags, "keywordSetId",
                            "internalAt", "internalZoneMinutes", "savedAt", "sizeBytes", prefix)
      SELECT ${param('toFolderId')}, ${param('uidNext')} - 1 + row_number() OVER (ORDER BY uid), "emailId", "contentId",
             ${param('modseq')}, ${param('modseq')}, flags, "keywordSetId", "internalAt", "internalZoneMinutes",
             ${param('savedAt')}, "sizeBytes", prefix
        FROM messages
       WHERE "folderId" = ${param('folderId')} AND uid >= ${param('uidFrom')} AND uid <= ${param('uidTo')}
       RETURNING uid`.compile(db),
}));

/** Copies the messages of a range, which get UIDs from `uidNext` on in the order of their own. Returns their number. */
export async function copyMessages(tx: AccountTx, copy: Copy): Promise<number> {
  return (await copyRange.all(tx, copy)).length;
}

const removeRange = statement((db: AccountTx, param: Param<UidRange & { flag: number }>) =>
  db
    .deleteFrom('messages')
    .where('folderId', '=', param('folderId'))
    .where('uid', '>=', param('uidFrom'))
    .where('uid', '<=', param('uidTo'))
    .where(sql<number>`flags & ${param('flag')}`, '=', param('flag'))
    .returningAll(),
);

/** Removes the messages of a range, only those with `\Deleted` when `isDeleted` says so. Returns what they were, by UID. */
export async function removeMessages(
  tx: AccountTx,
  { isDeleted, ...range }: UidRange & { isDeleted: boolean },
): Promise<MessageRow[]> {
  const removed = await removeRange.all(tx, { ...range, flag: isDeleted ? DELETED : 0 });
  return removed.sort((a, b) => a.uid - b.uid);
}

const countFrom = statement((db: AccountTx, param: Param<Pick<UidRange, 'folderId' | 'uidFrom'>>) =>
  db
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number>().as('messages'))
    .where('folderId', '=', param('folderId'))
    .where('uid', '>=', param('uidFrom')),
);

/** Returns the number of messages from a UID on. */
export async function countMessagesFrom(
  tx: AccountTx,
  from: Pick<UidRange, 'folderId' | 'uidFrom'>,
): Promise<number> {
  return (await countFrom.first(tx, from))?.messages ?? 0;
}

const deletedBytes = statement((db: AccountTx, param: Param<Pick<MessageRow, 'folderId'>>) =>
  db
    .selectFrom('messages')
    .select(({ fn }) => fn.sum<number | null>('sizeBytes').as('sizeBytes'))
    .where('folderId', '=', param('folderId'))
    .where(sql<number>`flags & ${DELETED}`, '<>', 0),
);

/** Returns the size of the messages with `\Deleted`. */
export async function sumDeletedBytes(tx: AccountTx, folderId: number): Promise<number> {
  return (await deletedBytes.first(tx, { folderId }))?.sizeBytes ?? 0;
}
