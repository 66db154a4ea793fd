/**
 * Stores the data that the API adds to a message: the email, its tags and its addresses. list/store.ts has the SQL of
 * the list.
 */
import { sql } from 'kysely';
import { defineWrite, type Tx } from '../db/operation.ts';
import { type Param, statement } from '../db/statement.ts';
import type { EmailAddressRow, EmailRow, EmailTagRow, MessageRow, Mode } from '../db/tables.ts';
import { cancelMessage, rescheduleMessage } from '../queue/cancel.ts';
import type { Tag } from './request/tags.ts';
import type { EmailWithStatus } from './show.ts';

const insertRow = statement((db, param: Param<EmailRow>) =>
  db.insertInto('emails').values({
    id: param('id'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    type: param('type'),
    fromHeader: param('fromHeader'),
    fromAddress: param('fromAddress'),
    fromDomain: param('fromDomain'),
    toList: param('toList'),
    ccList: param('ccList'),
    bccList: param('bccList'),
    replyToList: param('replyToList'),
    subject: param('subject'),
    headers: param('headers'),
    attachments: param('attachments'),
    tags: param('tags'),
    scheduledAt: param('scheduledAt'),
    templateId: param('templateId'),
    topicId: param('topicId'),
    broadcastId: param('broadcastId'),
    missingVariables: param('missingVariables'),
    rfcMessageId: param('rfcMessageId'),
    createdAt: param('createdAt'),
    html: param('html'),
    text: param('text'),
  }),
);

const insertAddress = statement((db, param: Param<EmailAddressRow>) =>
  db.insertInto('emailAddresses').values({
    tenantId: param('tenantId'),
    mode: param('mode'),
    address: param('address'),
    emailId: param('emailId'),
  }),
);

const insertTag = statement((db, param: Param<EmailTagRow>) =>
  db.insertInto('emailTags').values({
    tenantId: param('tenantId'),
    mode: param('mode'),
    key: param('key'),
    value: param('value'),
    emailId: param('emailId'),
  }),
);

/**
 * Stores an email, as part of the write that accepts it. `addresses` are those of its recipients, each as its
 * `addressKey`.
 */
export async function insertEmail(
  tx: Tx,
  email: EmailRow,
  { tags, addresses }: { tags: readonly Tag[]; addresses: readonly string[] },
): Promise<void> {
  const { id: emailId, tenantId, mode } = email;
  await insertRow.all(tx, email);
  for (const tag of tags) await insertTag.all(tx, { tenantId, mode, ...tag, emailId });
  for (const address of addresses) await insertAddress.all(tx, { tenantId, mode, address, emailId });
}

const byId = statement((db, param: Param<Pick<EmailRow, 'id'>>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .selectAll('emails')
    .select(['messages.status', 'messages.lastEventAt'])
    .where('emails.id', '=', param('id')),
);

/** Returns an email with its content. The caller has checked with `findEmailHead` that it may be seen. */
export function findEmail(tx: Tx, id: EmailRow['id']): Promise<EmailWithStatus | undefined> {
  return byId.first(tx, { id });
}

/** The fields that decide whether a caller may see an email, and its size, without its content. */
export type EmailHead = Pick<EmailRow, 'id' | 'tenantId' | 'type'> & { contentBytes: number };

const headById = statement((db, param: Param<Pick<EmailRow, 'tenantId' | 'mode' | 'id'>>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select(['emails.id', 'emails.tenantId', 'emails.type', 'messages.domainId'])
    // SQLite takes the length of a column from the header of its row; it does not read the pages that hold the text.
    .select(
      sql<number>`ifnull(octet_length(emails.html), 0) + ifnull(octet_length(emails.text), 0)`.as(
        'contentBytes',
      ),
    )
    .where('emails.id', '=', param('id'))
    .where('emails.tenantId', '=', param('tenantId'))
    .where('emails.mode', '=', param('mode')),
);

/**
 * Returns the head of an email, or undefined when the caller may not see it. `domainId` is the one domain whose mail
 * the caller may see; null allows any.
 */
export async function findEmailHead(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { mode, domainId, id }: { mode: Mode; domainId: MessageRow['domainId']; id: EmailRow['id'] },
): Promise<EmailHead | undefined> {
  const found = await headById.first(tx, { tenantId, mode, id });
  return found && (domainId === null || found.domainId === domainId) ? found : undefined;
}

type Change = Pick<EmailRow, 'tenantId' | 'id'> & { now: number };

/**
 * Cancels an email. The caller has checked that it belongs to the tenant.
 * @throws AppError invalid_state
 */
export const cancelStoredEmail = defineWrite('emails.cancel', async (tx, { id, now }: Change) => {
  await cancelMessage(tx, { messageId: id, now });
});

type NewDate = Pick<EmailRow, 'scheduledAt'> & Pick<MessageRow, 'datedAt' | 'expiresAt'>;

/**
 * Reschedules an email. The caller has checked that it belongs to the tenant. Times are Unix milliseconds.
 * @throws AppError invalid_state
 */
export const rescheduleStoredEmail = defineWrite(
  'emails.reschedule',
  async (tx, { tenantId, id, now, scheduledAt, datedAt, expiresAt }: Change & NewDate) => {
    await rescheduleMessage(tx, { messageId: id, now, datedAt, expiresAt });
    await tx
      .updateTable('emails')
      .set({ scheduledAt })
      .where('id', '=', id)
      .where('tenantId', '=', tenantId)
      .execute();
  },
);
