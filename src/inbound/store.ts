/**
 * Stores received messages and their recipients. All SQL of these tables is here, and nothing else writes them. Their
 * tasks are in tasks/store.ts.
 */

import { sql } from 'kysely';
import { deleteEmptyBlobs, emptyBlob, type StoredBytes } from '../blobs/store.ts';
import type { ExpiryRange, ExpirySlice } from '../db/expiry.ts';
import type { ReceivedMessageRow, ReceivedRecipientRow } from '../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { deleteRows, findColumns, findRow, insertRow, listRows, updateRows } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import { addStoredBytes, subtractStoredBytes } from '../tenants/stored-mail/store.ts';

type MessageId = ReceivedMessageRow['id'];

/**
 * Size that counts for the rows of a message: its own, those of its recipients and tasks, and its event, with their indexes. Those of
 * a short message with one recipient take about 3 KB. Without it, a tenant could fill the disk with millions of tiny messages.
 */
const ROWS_BYTES = 3 * 1024;

type Stored = Pick<ReceivedMessageRow, 'tenantId' | 'sizeBytes'>;

/**
 * Returns what a new message counts against the limit of its tenant. For the installation its content alone counts: the rows of many
 * bounces, which last much longer, must not take the space of the next ones.
 */
export function storedBytesOf({ tenantId, sizeBytes }: Stored): number {
  return tenantId === null ? sizeBytes : sizeBytes + ROWS_BYTES;
}

/**
 * Stores a received message with its recipients, as part of the write that accepts it. Its size counts against the limit of its
 * tenant, or of the installation, until its content is deleted, and its rows count until they are deleted.
 */
export async function insertReceived(
  tx: Tx,
  message: ReceivedMessageRow,
  recipients: readonly ReceivedRecipientRow[],
): Promise<void> {
  await insertRow(tx, 'receivedMessages', message);
  for (const recipient of recipients) await insertRow(tx, 'receivedRecipients', recipient);
  await addStoredBytes(tx, message.tenantId, storedBytesOf(message));
}

/** Returns a received message of any tenant, or undefined. The id comes from a task or a signed link. */
export function findReceived(tx: Tx, id: MessageId): Promise<ReceivedMessageRow | undefined> {
  return findRow(tx, 'receivedMessages', { id });
}

type OfBytes = { blobId: NonNullable<ReceivedMessageRow['blobId']> };

/**
 * Returns what was found out about the message with these bytes when it arrived. The rows of several tenants agree on it. Returns
 * undefined when retention has deleted the bytes of all of them.
 */
export function findReceivedOfBytes(
  tx: Tx,
  blobId: OfBytes['blobId'],
): Promise<Pick<ReceivedMessageRow, 'auth' | 'flagged'> | undefined> {
  return findColumns(tx, 'receivedMessages', { select: ['auth', 'flagged'], where: { blobId } });
}

/** Returns the recipients of a received message in the order of the envelope. */
export function listReceivedRecipients(tx: Tx, messageId: MessageId): Promise<ReceivedRecipientRow[]> {
  return listRows(tx, 'receivedRecipients', { where: { messageId }, orderBy: 'position' });
}

type Target = Pick<ReceivedRecipientRow, 'targetId'>;

const sizesOf = statement((db, param: Param<Target & { limit: number }>) =>
  db
    .selectFrom('receivedRecipients')
    .innerJoin('receivedMessages', 'receivedMessages.id', 'receivedRecipients.messageId')
    .select('sizeBytes')
    // Literal, for the partial index `receivedRecipientsByTarget`.
    .where(sql<boolean>`"receivedRecipients"."kind" <> 'mailbox'`)
    .where('targetId', '=', constant(param('targetId')))
    .limit(constant(param('limit'))),
);

/** Returns the sizes of the messages that were received for a target, at most `limit` of them. */
export async function listReceivedSizes(tx: Tx, target: Target, limit: number): Promise<number[]> {
  return (await sizesOf.all(tx, { ...target, limit })).map(({ sizeBytes }) => sizeBytes);
}

/** Records that the last task of a message has ended, as part of the write that ends the task. */
export async function endReceived(tx: Tx, id: MessageId, endedAt: number): Promise<void> {
  await updateRows(tx, 'receivedMessages', { set: { endedAt }, where: { id } });
}

/** Records that a task of a message is pending again, so that retention keeps the message. */
export async function reopenReceived(tx: Tx, id: MessageId): Promise<void> {
  await updateRows(tx, 'receivedMessages', { set: { endedAt: null }, where: { id } });
}

type ContentExpiry = { now: number; endedBy: number; rows: number };

const nextWithContent = statement((db, param: Param<ContentExpiry>) =>
  db
    .selectFrom('receivedMessages')
    .select(['id', 'blobId', 'tenantId', 'sizeBytes'])
    // Literal, for the partial index `receivedMessagesWithContent`.
    .where(sql<boolean>`"endedAt" IS NOT NULL AND "contentDeletedAt" IS NULL`)
    .where('endedAt', '<=', constant(param('endedBy')))
    .orderBy('endedAt')
    .limit(constant(param('rows'))),
);

/**
 * Frees bytes as part of a write that has removed the last need of one message, unless another received message or a forwarded one
 * shares them. Returns them when they are in a file, which the caller discards.
 */
export async function freeReceivedBytes(tx: Tx, blobId: OfBytes['blobId']): Promise<StoredBytes | undefined> {
  const isShared =
    (await findColumns(tx, 'receivedMessages', { select: ['auth', 'flagged'], where: { blobId } })) ??
    (await findColumns(tx, 'messages', { select: ['id'], where: { blobId } }));
  if (isShared) return undefined;
  const file = await emptyBlob(tx, blobId);
  await deleteEmptyBlobs(tx, [blobId]);
  return file;
}

/**
 * Deletes the bytes of messages whose last task ended at `endedBy` or before, in Unix milliseconds. Bytes that another message
 * shares are kept. Returns the bytes that are in files, which the caller discards.
 */
export const expireReceivedContent = defineWrite(
  'inbound.expireContent',
  async (tx, expiry: ContentExpiry): Promise<ExpirySlice & { files: StoredBytes[] }> => {
    const rows = await nextWithContent.all(tx, expiry);
    const files: StoredBytes[] = [];
    for (const { id, blobId, tenantId, sizeBytes } of rows) {
      await updateRows(tx, 'receivedMessages', {
        set: { blobId: null, contentDeletedAt: expiry.now },
        where: { id },
      });
      await subtractStoredBytes(tx, tenantId, sizeBytes);
      const file = blobId === null ? undefined : await freeReceivedBytes(tx, blobId);
      if (file) files.push(file);
    }
    return { next: rows.length === expiry.rows ? 'more' : undefined, deleted: rows.length, files };
  },
  { priority: 'bulk' },
);

const isExpired = (param: Param<{ after: string; before: string }>) =>
  sql<boolean>`id > ${constant(param('after'))} AND id < ${constant(param('before'))}`;

const nextExpired = statement((db, param: Param<ExpiryRange>) =>
  db
    .selectFrom('receivedMessages')
    .select(['id', 'tenantId', 'contentDeletedAt'])
    .where(isExpired(param))
    .orderBy('id')
    .limit(constant(param('rows'))),
);

/** Returns the next messages of the range. Those whose content is kept have not expired. */
export function listOldReceived(
  tx: Tx,
  range: ExpiryRange,
): Promise<Pick<ReceivedMessageRow, 'id' | 'tenantId' | 'contentDeletedAt'>[]> {
  return nextExpired.all(tx, range);
}

/** Deletes a message whose content is deleted and that has no tasks any more, and its recipients. */
export async function deleteReceived(
  tx: Tx,
  { id, tenantId }: Pick<ReceivedMessageRow, 'id' | 'tenantId'>,
): Promise<void> {
  await deleteRows(tx, 'receivedRecipients', { messageId: id });
  await deleteRows(tx, 'receivedMessages', { id });
  await subtractStoredBytes(tx, tenantId, storedBytesOf({ tenantId, sizeBytes: 0 }));
}
