/**
 * Stores the data that the API adds to a message: the email, its tags and its addresses. list/store.ts has the SQL of
 * the list.
 */

import { sql } from 'kysely';
import { deleteEmptyBlobs, emptyBlob, type StoredBytes } from '../blobs/store.ts';
import type { ContentRow, EmailAddressRow, EmailRow } from '../db/email-tables.ts';
import type { ExpiryRange, ExpirySlice } from '../db/expiry.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { deleteRows, insertRow, updateRows } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { BlobRow, MessageRow, Mode } from '../db/tables.ts';
import { isAboutOpenMail } from '../events/store.ts';
import { addressKey } from '../mail/address.ts';
import { cancelMessage, rescheduleMessage } from '../queue/state/cancel.ts';
import { deleteMessages, dropContent, listRecipients } from '../queue/store.ts';
import { orNotFound } from '../system/errors.ts';
import { firstIdAt } from '../system/ids.ts';
import { deleteEngagementsOf } from '../tracking/engagements/store.ts';
import { deleteTargetsOf } from '../tracking/links/store.ts';
import type { Tag } from './request/tags.ts';
import type { EmailWithStatus } from './show.ts';

export type EmailWithContent = EmailWithStatus & Pick<MessageRow, 'contentId' | 'mergeValues' | 'blobId'>;

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
  await insertRow(tx, 'emails', email);
  for (const tag of tags) await insertRow(tx, 'emailTags', { tenantId, mode, ...tag, emailId });
  for (const address of addresses)
    await insertRow(tx, 'emailAddresses', { tenantId, mode, address, emailId });
}

type CopyQuestion = Pick<EmailRow, 'tenantId' | 'mode'> & {
  broadcastId: NonNullable<EmailRow['broadcastId']>;
  /** Address of a reader, as its `addressKey`. */
  address: string;
};

const copyFor = statement((db, param: Param<CopyQuestion & { first: EmailRow['id'] }>) =>
  db
    .selectFrom('emailAddresses')
    .innerJoin('emails', 'emails.id', 'emailAddresses.emailId')
    .select('emails.id')
    .where('emailAddresses.tenantId', '=', param('tenantId'))
    .where('emailAddresses.mode', '=', param('mode'))
    .where('emailAddresses.address', '=', param('address'))
    .where('emailAddresses.emailId', '>=', param('first'))
    .where('emails.broadcastId', '=', param('broadcastId'))
    .limit(sql.lit(1)),
);

/** Returns true when an address has a copy of a broadcast that was made at `since` or later, in Unix milliseconds. */
export async function hasCopyFor(
  tx: Tx,
  { since, ...question }: CopyQuestion & { since: number },
): Promise<boolean> {
  return (await copyFor.first(tx, { ...question, first: firstIdAt('em', since) })) !== undefined;
}

type Correspondent = Pick<EmailAddressRow, 'tenantId' | 'address'>;

const emailTo = statement((db, param: Param<Correspondent>) =>
  db
    .selectFrom('emailAddresses')
    .select('emailId')
    .where('tenantId', '=', param('tenantId'))
    .where('mode', '=', sql.lit('live'))
    .where('address', '=', param('address'))
    .limit(sql.lit(1)),
);

/** Returns true when the tenant has sent an email to this address, given as its `addressKey`. */
export async function hasWrittenTo(
  tx: Tx,
  tenantId: Correspondent['tenantId'],
  address: Correspondent['address'],
): Promise<boolean> {
  return (await emailTo.first(tx, { tenantId, address })) !== undefined;
}

const byId = statement((db, param: Param<Pick<EmailRow, 'id'>>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .selectAll('emails')
    .select(['messages.status', 'messages.lastEventAt'])
    .select(['messages.contentId', 'messages.mergeValues', 'messages.blobId'])
    .where('emails.id', '=', param('id')),
);

/** Returns an email with its content. The caller has checked with `findEmailHead` that it may be seen. */
export function findEmail(tx: Tx, id: EmailRow['id']): Promise<EmailWithContent | undefined> {
  return byId.first(tx, { id });
}

/** The fields that decide whether a caller may see an email, and its size, without its content. */
export type EmailHead = Pick<EmailRow, 'id' | 'tenantId' | 'type' | 'contentDeletedAt'> &
  Pick<MessageRow, 'domainId'> & { contentBytes: number };

const headById = statement((db, param: Param<Pick<EmailRow, 'tenantId' | 'mode' | 'id'>>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select(['emails.id', 'emails.tenantId', 'emails.type', 'emails.contentDeletedAt', 'messages.domainId'])
    .leftJoin('contents', 'contents.id', 'messages.contentId')
    // SQLite takes the length of a column from the header of its row; it does not read the pages that hold the text.
    .select(
      sql<number>`ifnull(contents."sizeBytes", ifnull(octet_length(emails.html), 0) + ifnull(octet_length(emails.text), 0))`.as(
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

export type Change = Pick<EmailRow, 'tenantId' | 'id'> & { now: number };

/**
 * Cancels an email. The caller has checked that it belongs to the tenant.
 * @throws AppError invalid_state
 */
export const cancelStoredEmail = defineWrite('emails.cancel', async (tx, { id, now }: Change) => {
  await cancelMessage(tx, { messageId: id, now });
});

type Bound = Pick<
  EmailRow,
  'id' | 'fromHeader' | 'toList' | 'ccList' | 'bccList' | 'replyToList' | 'subject'
> &
  Pick<EmailRow, 'headers' | 'attachments' | 'scheduledAt'> &
  Pick<MessageRow, 'sender' | 'fields' | 'mergeValues'> & {
    /** Hash of the texts as they are stored. */
    contentSha256: ContentRow['sha256'] | null;
    /** Hash of the stored bytes of the message. */
    blobSha256: BlobRow['sha256'] | null;
  };

const boundById = statement((db, param: Param<Pick<EmailRow, 'id'>>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .leftJoin('contents', 'contents.id', 'messages.contentId')
    .leftJoin('blobs', 'blobs.id', 'messages.blobId')
    .select(['emails.id', 'emails.fromHeader', 'emails.toList', 'emails.ccList', 'emails.bccList'])
    .select(['emails.replyToList', 'emails.subject', 'emails.headers', 'emails.attachments'])
    .select(['emails.scheduledAt', 'messages.sender', 'messages.fields', 'messages.mergeValues'])
    .select(['contents.sha256 as contentSha256', 'blobs.sha256 as blobSha256'])
    .where('emails.id', '=', param('id')),
);

/** Returns what an approval of an email binds to. */
export async function getBound(tx: Tx, id: EmailRow['id']): Promise<Bound> {
  return orNotFound(await boundById.first(tx, { id }), 'Email');
}

export type NewDate = Pick<EmailRow, 'scheduledAt'> & Pick<MessageRow, 'datedAt' | 'expiresAt'>;

/**
 * Moves an email to another time, as part of a write. The caller has checked that it belongs to the tenant. Times are Unix milliseconds.
 * @throws AppError invalid_state
 */
export async function moveEmail(
  tx: Tx,
  { tenantId, id, now, scheduledAt, datedAt, expiresAt }: Change & NewDate,
): Promise<void> {
  await rescheduleMessage(tx, { messageId: id, now, datedAt, expiresAt });
  await updateRows(tx, 'emails', { set: { scheduledAt }, where: { id, tenantId } });
}

type EmailExpiry = ExpiryRange & {
  now: number;
  /** Time of the last change at or before which an email has expired. */
  endedBy: number;
};

/**
 * Maximum numbers for one write of retention, so that others do not wait long. Each makes a write of
 * about 5 ms. Recipients count where emails are deleted, and bytes where content is, since SQLite reads every page that
 * it frees.
 */
const MAX_DELETED_RECIPIENTS = 150;
const MAX_FREED_BYTES = 1024 * 1024;

const isInRange = (param: Param<EmailExpiry>) =>
  sql<boolean>`emails.id > ${constant(param('after'))} AND emails.id < ${constant(param('before'))}`;

const nextWithContent = statement((db, param: Param<EmailExpiry>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .leftJoin('blobs', 'blobs.id', 'messages.blobId')
    .leftJoin('contents', 'contents.id', 'messages.contentId')
    .select(['emails.id', 'messages.blobId', 'messages.contentId'])
    .select(
      sql<number>`ifnull(blobs."sizeBytes", 0) + ifnull(octet_length(contents.source), 0)
        + ifnull(octet_length(emails.html), 0) + ifnull(octet_length(emails.text), 0)`.as('contentBytes'),
    )
    .select(
      sql<0 | 1>`messages."lastEventAt" <= ${param('endedBy')} AND NOT ${isAboutOpenMail('emails.id')}`.as(
        'hasExpired',
      ),
    )
    // Literal, for the partial index `emailsWithContent`.
    .where(sql<boolean>`emails."contentDeletedAt" IS NULL`)
    .where(isInRange(param))
    .orderBy('emails.id')
    .limit(constant(param('rows'))),
);

const findNeeding = statement((db, param: Param<{ blobId: BlobRow['id'] }>) =>
  db
    .selectFrom('messages')
    .innerJoin('emails', 'emails.id', 'messages.id')
    .select('messages.id')
    .where('messages.blobId', '=', param('blobId'))
    .where('emails.contentDeletedAt', 'is', null)
    .limit(1),
);

/**
 * Deletes the content of emails that ended at `endedBy` or before: HTML, text, and the bytes of the message. Bytes
 * that an email with content shares are kept. Returns the bytes that are in files, which the caller discards.
 */
export const expireContent = defineWrite(
  'emails.expireContent',
  async (tx, expiry: EmailExpiry): Promise<ExpirySlice & { files: StoredBytes[] }> => {
    const rows = await nextWithContent.all(tx, expiry);
    const files: StoredBytes[] = [];
    let [deleted, freedBytes] = [0, 0];
    for (const { id, blobId, contentId, contentBytes, hasExpired } of rows) {
      if (hasExpired === 0) continue;
      await updateRows(tx, 'emails', {
        set: { html: null, text: null, contentDeletedAt: expiry.now },
        where: { id },
      });
      const isFree = blobId !== null && !(await findNeeding.first(tx, { blobId }));
      const file = isFree ? await emptyBlob(tx, blobId) : undefined;
      if (file) files.push(file);
      if (contentId !== null) await dropContent(tx, { messageId: id, contentId });
      deleted++;
      freedBytes += contentBytes;
      if (freedBytes >= MAX_FREED_BYTES) return { next: id, deleted, files };
    }
    return { next: rows[expiry.rows - 1]?.id, deleted, files };
  },
  { priority: 'bulk' },
);

const nextEmails = statement((db, param: Param<EmailExpiry>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select(['emails.id', 'emails.tenantId', 'emails.mode', 'emails.tags', 'messages.blobId'])
    .select(
      sql<0 | 1>`emails."contentDeletedAt" IS NOT NULL AND messages."lastEventAt" <= ${param('endedBy')}`.as(
        'hasExpired',
      ),
    )
    .where(isInRange(param))
    .orderBy('emails.id')
    .limit(constant(param('rows'))),
);

/**
 * Deletes emails whose content was deleted before and whose last change was at `endedBy` or before, with their
 * messages, recipients, addresses and tags.
 */
export const expireEmails = defineWrite(
  'emails.expire',
  async (tx, expiry: EmailExpiry): Promise<ExpirySlice> => {
    const rows = await nextEmails.all(tx, expiry);
    const expired: typeof rows = [];
    let recipients = 0;
    for (const row of rows.filter(({ hasExpired }) => hasExpired === 1)) {
      recipients += await deleteSearchKeys(tx, row);
      expired.push(row);
      if (recipients >= MAX_DELETED_RECIPIENTS) break;
    }
    const ids = expired.map(({ id }) => id);
    if (ids.length > 0) {
      await tx.deleteFrom('emails').where('id', 'in', ids).execute();
      await deleteMessages(tx, ids);
      await deleteEngagementsOf(tx, ids);
      await deleteTargetsOf(tx, ids);
      const blobIds = await withoutMessages(
        tx,
        expired.flatMap(({ blobId }) => blobId ?? []),
      );
      if (blobIds.length > 0) await deleteEmptyBlobs(tx, blobIds);
    }
    const wasCutShort = recipients >= MAX_DELETED_RECIPIENTS;
    return { next: wasCutShort ? ids.at(-1) : rows[expiry.rows - 1]?.id, deleted: ids.length };
  },
  { priority: 'bulk' },
);

/** Returns those of the blobs that no message names. */
async function withoutMessages(tx: Tx, blobIds: readonly BlobRow['id'][]): Promise<BlobRow['id'][]> {
  if (blobIds.length === 0) return [];
  const named = await tx.selectFrom('messages').select('blobId').where('blobId', 'in', blobIds).execute();
  return blobIds.filter((id) => !named.some(({ blobId }) => blobId === id));
}

/** Deletes the rows by which an email is found. Returns the number of its recipients. */
async function deleteSearchKeys(
  tx: Tx,
  { id: emailId, tenantId, mode, tags }: Pick<EmailRow, 'id' | 'tenantId' | 'mode' | 'tags'>,
): Promise<number> {
  const recipients = await listRecipients(tx, emailId);
  for (const { address } of recipients)
    await deleteRows(tx, 'emailAddresses', { tenantId, mode, address: addressKey(address), emailId });
  for (const [key, value] of Object.entries(JSON.parse(tags) as Record<string, string>))
    await deleteRows(tx, 'emailTags', { tenantId, mode, key, value, emailId });
  return recipients.length;
}
