/** Stores messages and the tombstones of those that were removed. All SQL of these tables is here, and nothing else writes them. */
import { type Param, statement } from '../../db/statement.ts';
import type { AccountTx } from './store.ts';
import type { MessageRow } from './tables.ts';

const insert = statement((db: AccountTx, param: Param<MessageRow>) =>
  db.insertInto('messages').values({
    folderId: param('folderId'),
    uid: param('uid'),
    emailId: param('emailId'),
    contentId: param('contentId'),
    modseq: param('modseq'),
    createdModseq: param('createdModseq'),
    flags: param('flags'),
    keywordSetId: param('keywordSetId'),
    internalAt: param('internalAt'),
    internalZoneMinutes: param('internalZoneMinutes'),
    savedAt: param('savedAt'),
    sizeBytes: param('sizeBytes'),
    prefix: param('prefix'),
  }),
);

/** Adds a message. The caller changes the counts of the folder (`changeCounts`). */
export async function insertMessage(tx: AccountTx, row: MessageRow): Promise<void> {
  await insert.all(tx, row);
}

const byUid = statement((db: AccountTx, param: Param<Pick<MessageRow, 'folderId' | 'uid'>>) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('folderId', '=', param('folderId'))
    .where('uid', '=', param('uid')),
);

/** Returns a message; undefined when it was removed. */
export function findMessage(
  tx: AccountTx,
  key: Pick<MessageRow, 'folderId' | 'uid'>,
): Promise<MessageRow | undefined> {
  return byUid.first(tx, key);
}
