/**
 * Deletes the mail of a tenant with everything that depends on it, as parts of writes: what is sent, what has been received, and the files of
 * imports and exports. Bytes that another tenant shares stay. Each function returns the bytes in files that the caller discards.
 */
import { sql } from 'kysely';
import type { StoredBytes } from '../blobs/store.ts';
import type { Tx } from '../db/operation.ts';
import type { BlobRow, MessageRow } from '../db/tables.ts';
import { deleteReceived, freeReceivedBytes } from '../inbound/store.ts';
import { deleteTasksOf } from '../inbound/tasks/store.ts';
import { removeJobOf } from '../jobs/store.ts';
import { deletePlansOf } from '../mailbox-delivery/scripts/plan-store.ts';
import { deleteAttemptsOf } from '../queue/attempts-store.ts';
import { deleteUnusedContent } from '../queue/contents/store.ts';
import { deleteNotifications } from '../queue/notifications-store.ts';
import { deleteMessages } from '../queue/store.ts';
import { deleteEngagementsOf } from '../tracking/engagements/store.ts';
import { deleteTargetsOf } from '../tracking/links/store.ts';
import { deleteNaming, type Erased, type EraseSlice, erasedUpTo, MORE } from './erase-store.ts';

/** `isWaiting`: what is left is being sent at this moment, and is deleted once that has ended. */
export type ErasedMail = Erased & { files?: readonly StoredBytes[]; isWaiting?: boolean };

/** Number of rows that a message counts for: its own, and those of its recipients, its events and the like. */
const ROWS_PER_MESSAGE = 8;

/** Tables whose rows go with a message, and the column with its id. */
const NAMING_MESSAGES = [
  ['events', 'emailId'],
  ['submittedMessages', 'messageId'],
  ['emails', 'id'],
] as const;

type EmailId = `em_${string}`;

/** Deletes messages that are not being sent, whatever their state is. */
export async function eraseMessages(tx: Tx, { tenantId, rows }: EraseSlice): Promise<ErasedMail> {
  const limit = Math.max(1, Math.floor(rows / ROWS_PER_MESSAGE));
  const messages = await tx
    .selectFrom('messages')
    .select(['id', 'blobId', 'contentId'])
    .where('tenantId', '=', tenantId)
    .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM recipients
      WHERE recipients."messageId" = messages.id AND recipients.state = 'in_flight')`)
    .limit(limit)
    .execute();
  if (messages.length === 0) {
    const isWaiting = await hasMessages(tx, tenantId);
    return { deleted: 0, next: undefined, isWaiting };
  }
  const ids = messages.map(({ id }) => id);
  const emailIds = ids as EmailId[];
  await deleteNotifications(tx, ids);
  for (const id of ids) await deleteAttemptsOf(tx, id);
  for (const [table, column] of NAMING_MESSAGES) await deleteNaming(tx, { table, column, ids });
  await deleteMessages(tx, ids);
  await deleteEngagementsOf(tx, emailIds);
  await deleteTargetsOf(tx, emailIds);
  for (const contentId of unique(messages.map((message) => message.contentId)))
    await deleteUnusedContent(tx, contentId);
  const files = await freeAll(tx, unique(messages.map(({ blobId }) => blobId)));
  return { ...erasedUpTo(limit, messages.length), files };
}

async function hasMessages(tx: Tx, tenantId: MessageRow['tenantId']): Promise<boolean> {
  const left = tx.selectFrom('messages').select('id').where('tenantId', '=', tenantId).limit(1);
  return (await left.executeTakeFirst()) !== undefined;
}

/** Deletes received messages with their tasks. */
export async function eraseReceived(tx: Tx, { tenantId, rows }: EraseSlice): Promise<ErasedMail> {
  const limit = Math.max(1, Math.floor(rows / ROWS_PER_MESSAGE));
  const messages = await tx
    .selectFrom('receivedMessages')
    .select(['id', 'tenantId', 'blobId'])
    .where('tenantId', '=', tenantId)
    .limit(limit)
    .execute();
  for (const message of messages) {
    await deletePlansOf(tx, message.id);
    await deleteTasksOf(tx, message.id);
    await deleteReceived(tx, message);
  }
  const files = await freeAll(tx, unique(messages.map(({ blobId }) => blobId)));
  return { ...erasedUpTo(limit, messages.length), files };
}

/** Deletes an import or an export, or a slice of the rows that it could not import. */
export async function eraseJob(tx: Tx, { tenantId }: EraseSlice): Promise<ErasedMail> {
  const removal = await removeJobOf(tx, tenantId);
  if (!removal) return { deleted: 0, next: undefined };
  return { deleted: 1, next: MORE, files: removal.file ? [removal.file] : [] };
}

async function freeAll(tx: Tx, blobIds: readonly BlobRow['id'][]): Promise<StoredBytes[]> {
  const files: StoredBytes[] = [];
  for (const blobId of blobIds) {
    const file = await freeReceivedBytes(tx, blobId);
    if (file) files.push(file);
  }
  return files;
}

function unique<Value>(values: readonly (Value | null)[]): Value[] {
  return [...new Set(values.filter((value) => value !== null))];
}
