/**
 * Stores which messages people have sent, what was reported to them, and how many of their messages have not reached all recipients, for
 * each mailbox and each tenant. All SQL of both tables is here, and nothing else writes them.
 * A row lives as long as its message. It has a task at the times of reports about delays, and whenever a recipient reaches its end.
 */

import { deleteEmptyBlobs, emptyBlob, type StoredBytes } from '../../blobs/store.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { addToRow, findColumns, findRow, insertRow, updateRows } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { SubmittedMessageRow, UnsentMailRow } from '../../db/submission-tables.ts';
import type { MessageRow } from '../../db/tables.ts';
import { completeTask, type Lease, retryTask, scheduleTask, type TaskEnd } from '../../tasks/store.ts';
import { deleteAttemptsOf } from '../attempts-store.ts';
import { deleteMessages } from '../store.ts';

type NewSubmitted = Pick<SubmittedMessageRow, 'messageId' | 'tenantId' | 'handedInWith' | 'sizeBytes'> & {
  dueAt: number | null;
};
type Mailbox = { mailboxId: NonNullable<MessageRow['mailboxId']> };

/** Kind of the tasks that check what is to be reported about a message. The reference of a task is the message. */
export const REPORT_TASKS = 'submission-reports';

/** Stores that a person has sent a message, as part of the write that queues it. `dueAt` is the time of its first check, if it has one. */
export async function insertSubmitted(
  tx: Tx,
  { mailboxId, dueAt, ...submitted }: NewSubmitted & Mailbox,
): Promise<void> {
  const { messageId: id, tenantId, handedInWith, sizeBytes } = submitted;
  await insertRow(tx, 'submittedMessages', {
    messageId: id,
    tenantId,
    handedInWith,
    sizeBytes,
    told: '{}',
    reports: 0,
  });
  if (dueAt !== null) await makeSubmittedDue(tx, { id, tenantId, mailboxId }, dueAt);
  await addUnsent(tx, { owners: [mailboxId, tenantId], sizeBytes });
}

/** Makes a check of a message due, as part of the write that changes one of its recipients for good. */
export async function makeSubmittedDue(
  tx: Tx,
  { id: reference, tenantId, mailboxId }: Pick<MessageRow, 'id' | 'tenantId'> & Mailbox,
  dueAt: number,
): Promise<void> {
  await scheduleTask(tx, { kind: REPORT_TASKS, reference, queueKey: mailboxId, tenantId, dueAt });
}

/** Returns what is known about a message that a person has sent; undefined once there is nothing more to report. */
export function findSubmitted(tx: Tx, messageId: string): Promise<SubmittedMessageRow | undefined> {
  return findRow(tx, 'submittedMessages', { messageId });
}

type Settled = Pick<SubmittedMessageRow, 'told' | 'report' | 'reports'> & {
  lease: Lease;
  /** Time of the next check; null when only the end of a recipient needs one. */
  dueAt: number | null;
};

/** Stores what the check of a message has led to. When the answer is `stale`, nothing has changed. */
export const settleSubmitted = defineWrite(
  'queue.settleSubmitted',
  async (tx, { lease, dueAt, told, report, reports }: Settled): Promise<TaskEnd> => {
    const end =
      dueAt === null
        ? await completeTask.run(tx, lease)
        : await retryTask.run(tx, { lease, dueAt, attempts: 0 });
    const where = { messageId: lease.reference };
    if (end !== 'stale') await updateRows(tx, 'submittedMessages', { set: { told, report, reports }, where });
    return end;
  },
  { crashPoints: { beforeCommit: 'report-before-commit', afterCommit: 'report-after-commit' } },
);

type Ending = { lease: Lease; message: Pick<MessageRow, 'id' | 'blobId' | 'mailboxId'> };

/**
 * Deletes a message about which there is nothing more to report, with its bytes and attempts. Returns the bytes that are in a file, which
 * the caller discards.
 */
export const endSubmitted = defineWrite(
  'queue.endSubmitted',
  async (tx, { lease, message }: Ending): Promise<{ end: TaskEnd; file: StoredBytes | undefined }> => {
    const end = await completeTask.run(tx, lease);
    if (end === 'stale') return { end, file: undefined };
    const { id, blobId, mailboxId } = message;
    const ended = await tx
      .deleteFrom('submittedMessages')
      .where('messageId', '=', id)
      .returning(['tenantId', 'sizeBytes'])
      .executeTakeFirst();
    if (ended && mailboxId !== null)
      await removeUnsent(tx, { owners: [mailboxId, ended.tenantId], sizeBytes: ended.sizeBytes });
    await deleteAttemptsOf(tx, id);
    await deleteMessages(tx, [id]);
    const file = blobId === null ? undefined : await emptyBlob(tx, blobId);
    if (blobId !== null) await deleteEmptyBlobs(tx, [blobId]);
    return { end, file };
  },
);

type Owner = UnsentMailRow['owner'];
type Unsent = Pick<UnsentMailRow, 'messages' | 'bytes'>;

/** Returns the number and the size in bytes of the messages of a mailbox or of a tenant. */
export async function readUnsent(tx: Tx, owner: Owner): Promise<Unsent> {
  return (
    (await findColumns(tx, 'unsentMail', { select: ['messages', 'bytes'], where: { owner } })) ?? {
      messages: 0,
      bytes: 0,
    }
  );
}

const removeEmptied = statement((db, param: Param<{ owner: Owner }>) =>
  db.deleteFrom('unsentMail').where('owner', '=', param('owner')).where('messages', '<=', 0),
);

type Counted = { owners: readonly Owner[]; sizeBytes: number };

/** Counts a message of this size for each of its owners, as part of the write that stores it. */
async function addUnsent(tx: Tx, { owners, sizeBytes }: Counted): Promise<void> {
  for (const owner of owners) await addToRow(tx, 'unsentMail', { owner, messages: 1, bytes: sizeBytes });
}

/** Counts a message no longer, as part of the write that deletes it. */
async function removeUnsent(tx: Tx, { owners, sizeBytes }: Counted): Promise<void> {
  for (const owner of owners) {
    await addToRow(tx, 'unsentMail', { owner, messages: -1, bytes: -sizeBytes });
    await removeEmptied.all(tx, { owner });
  }
}
