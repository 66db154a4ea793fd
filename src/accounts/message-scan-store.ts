/** Reads messages for programs that list them, or name one by its EMAILID (messages/calls.ts). Nothing is written here. */
import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import { contentIdOf } from './email-id.ts';
import { findColumns } from './rows.ts';
import type { AccountTx } from './store.ts';
import type { ContentRow, MessageRow } from './tables.ts';

const COLUMNS = [
  'folderId',
  'uid',
  'emailId',
  'contentId',
  'flags',
  'keywordSetId',
  'internalAt',
  'sizeBytes',
] as const;

/** The facts of a message without its content. */
export type ScannedRow = Pick<MessageRow, (typeof COLUMNS)[number]>;

type Before = { folderId: number; beforeUid: number; limit: number };

const messagesBefore = statement((db: AccountTx, param: Param<Before>) =>
  db
    .selectFrom('messages')
    .select(COLUMNS)
    .where('folderId', '=', param('folderId'))
    .where('uid', '<', param('beforeUid'))
    .orderBy('uid', 'desc')
    .limit(param('limit')),
);

/** Returns messages of a folder from a UID downwards, the newest first. */
export function listMessagesBefore(tx: AccountTx, before: Before): Promise<ScannedRow[]> {
  return messagesBefore.all(tx, before);
}

/** Copies of a message share its EMAILID. The last one comes first. */
function newestOf(db: AccountTx, emailId: string) {
  return db
    .selectFrom('messages')
    .select(COLUMNS)
    .where('emailId', '=', emailId)
    .orderBy('savedAt', 'desc')
    .orderBy('folderId', 'desc')
    .orderBy('uid', 'desc')
    .limit(1);
}

const byContent = statement((db: AccountTx, param: Param<{ emailId: string; contentId: number }>) =>
  newestOf(db, param('emailId')).where('contentId', '=', param('contentId')),
);

const byOtherId = statement((db: AccountTx, param: Param<{ emailId: string }>) =>
  // Literal, for the partial index `messagesByEmailId`.
  newestOf(db, param('emailId')).where(sql<boolean>`"emailId" NOT GLOB 'C*'`),
);

/** Returns the message with an EMAILID; undefined when it was removed. Of several copies it is the one that was stored last. */
export function findByEmailId(tx: AccountTx, emailId: string): Promise<ScannedRow | undefined> {
  const contentId = contentIdOf(emailId);
  return contentId === undefined
    ? byOtherId.first(tx, { emailId })
    : byContent.first(tx, { emailId, contentId });
}

const byMessageId = statement((db: AccountTx, param: Param<{ messageId: string; limit: number }>) =>
  db
    .selectFrom('contents')
    .innerJoin('messages', 'messages.contentId', 'contents.id')
    .select(['messages.folderId', 'messages.uid'])
    .where('contents.messageId', '=', param('messageId'))
    .limit(param('limit')),
);

/** Returns where messages are that have this Message-ID, which is without angle brackets. */
export function listByMessageId(
  tx: AccountTx,
  wanted: { messageId: string; limit: number },
): Promise<Pick<MessageRow, 'folderId' | 'uid'>[]> {
  return byMessageId.all(tx, wanted);
}

/** Maximum size of references that are read with the row. Those of nearly all messages are shorter, and strangers can send a megabyte. */
const MAX_SHORT_REFERENCES_OCTETS = 8 * 1024;

/** A message with what threads are made from. `shortReferences` is null when they are long (`findReferences`). */
export type ThreadedRow = ScannedRow &
  Pick<ContentRow, 'sort' | 'messageId'> & { shortReferences: string | null };

const threadedColumns = [
  ...COLUMNS.map((column) => `messages.${column}` as const),
  'contents.sort',
  'contents.messageId',
] as const;
const shortReferences = sql<string | null>`CASE
  WHEN octet_length(contents."references") <= ${sql.lit(MAX_SHORT_REFERENCES_OCTETS)} THEN contents."references" END`;

function threaded(db: AccountTx) {
  return db
    .selectFrom('messages')
    .innerJoin('contents', 'contents.id', 'messages.contentId')
    .select(threadedColumns)
    .select(shortReferences.as('shortReferences'));
}

const threadedBefore = statement((db: AccountTx, param: Param<Before>) =>
  threaded(db)
    .where('messages.folderId', '=', param('folderId'))
    .where('messages.uid', '<', param('beforeUid'))
    .orderBy('messages.uid', 'desc')
    .limit(param('limit')),
);

/** Returns messages of a folder from a UID downwards, the newest first, with what threads are made from. */
export function listThreadedBefore(tx: AccountTx, before: Before): Promise<ThreadedRow[]> {
  return threadedBefore.all(tx, before);
}

/** Returns the references of a content, which are JSON; undefined when it was removed. */
export async function findReferences(tx: AccountTx, contentId: number): Promise<string | undefined> {
  return (await findColumns(tx, 'contents', { select: ['references'], where: { id: contentId } }))
    ?.references;
}
