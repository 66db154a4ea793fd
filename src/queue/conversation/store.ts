/**
 * Stores the conversations of attempts that did not deliver, for those who want to know why. All SQL of this table is here. A conversation
 * holds envelopes and replies, never content, and is deleted after a week.
 */
import { sql } from 'kysely';
import type { ConversationRow } from '../../db/email-tables.ts';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, insertRow } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';
import { newId } from '../../system/ids.ts';

/** Number of days for which conversations are kept. */
export const CONVERSATION_DAYS = 7;

/**
 * Maximum size of the conversations of a message, in characters: those of about 30 ordinary attempts, which a message has before it expires.
 * Without this limit, a tenant could fill the disk with what its own servers say.
 */
const MAX_CHARACTERS_PER_MESSAGE = 64 * 1024;

/** Stores a conversation, as part of the write that ends the attempt. The oldest ones of the message go when they are too large together. */
export async function insertConversation(tx: Tx, conversation: Omit<ConversationRow, 'id'>): Promise<void> {
  await insertRow(tx, 'conversations', { ...conversation, id: newId('cnv', conversation.at) });
  let characters = 0;
  for (const { id, size } of await sizesOfMessage.all(tx, conversation)) {
    characters += size;
    if (characters > MAX_CHARACTERS_PER_MESSAGE) await deleteRows(tx, 'conversations', { id });
  }
}

/** The newest first. */
const sizesOfMessage = statement((db, param: Param<Pick<ConversationRow, 'messageId'>>) =>
  db
    .selectFrom('conversations')
    .select(['id', sql<number>`length(lines)`.as('size')])
    .where('messageId', '=', param('messageId'))
    .orderBy('id', 'desc'),
);

/** Maximum number of conversations of a message in an answer: more than it has attempts in a week, unless it went to many sites. */
const MAX_LISTED = 50;

/** Returns the newest conversations of a message of a tenant, the oldest of them first. */
export async function listConversations(
  tx: Tx,
  tenantId: ConversationRow['tenantId'],
  messageId: ConversationRow['messageId'],
): Promise<ConversationRow[]> {
  const newest = await tx
    .selectFrom('conversations')
    .selectAll()
    .where('messageId', '=', messageId)
    .where('tenantId', '=', tenantId)
    .orderBy('id', 'desc')
    .limit(MAX_LISTED)
    .execute();
  return newest.reverse();
}

/** Deletes the conversations in the next slice of the range. */
export const expireConversations = defineWrite(
  'queue.expireConversations',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'conversations', range);
    const { numDeletedRows } = await tx.deleteFrom('conversations').where(isInSlice).executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
