/**
 * Stores which messages people have sent, what was reported to them, and how many of their messages have not reached all recipients, for
 * each mailbox and each tenant. All SQL of both tables is here, and nothing else writes them.
 * A row lives as long as its message. It is due at the times of reports about delays, and whenever a recipient reaches its end.
 */

import { sql } from 'kysely';
import { deleteEmptyBlobs, emptyBlob, type StoredBytes } from '../../blobs/store.ts';
import type { SetBack } from '../../db/due-times.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { addToRow, findColumns, findRow, insertRow, updateRows } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { SubmittedMessageRow, UnsentMailRow } from '../../db/submission-tables.ts';
import type { MessageRow } from '../../db/tables.ts';
import { deleteAttemptsOf } from '../attempts-store.ts';
import { deleteMessages } from '../store.ts';

type NewSubmitted = Pick<
  SubmittedMessageRow,
  'messageId' | 'tenantId' | 'handedInWith' | 'sizeBytes' | 'dueAt'
>;
type Mailbox = { mailboxId: NonNullable<MessageRow['mailboxId']> };

/** Stores that a person has sent a message, as part of the write that queues it. `dueAt` is the time of its first check. */
export async function insertSubmitted(
  tx: Tx,
  { mailboxId, ...submitted }: NewSubmitted & Mailbox,
): Promise<void> {
  const { tenantId, sizeBytes } = submitted;
  await insertRow(tx, 'submittedMessages', {
    messageId: submitted.messageId,
    tenantId: submitted.tenantId,
    handedInWith: submitted.handedInWith,
    sizeBytes: submitted.sizeBytes,
    dueAt: submitted.dueAt,
    told: '{}',
    reports: 0,
  });
  await addUnsent(tx, { owners: [mailboxId, tenantId], sizeBytes });
}

/** Makes a check of a message due, as part of the write that changes one of its recipients for good. */
export async function makeSubmittedDue(tx: Tx, messageId: string, now: number): Promise<void> {
  await updateRows(tx, 'submittedMessages', { set: { dueAt: now }, where: { messageId } });
}

/** Returns what is known about a message that a person has sent; undefined once there is nothing more to report. */
export function findSubmitted(tx: Tx, messageId: string): Promise<SubmittedMessageRow | undefined> {
  return findRow(tx, 'submittedMessages', { messageId });
}

const first = statement((db) =>
  db.selectFrom('submittedMessages').select('dueAt').where('dueAt', 'is not', null).orderBy('dueAt').limit(1),
);

/** Returns the time at which the next message is checked, in Unix milliseconds; undefined when none is. */
export async function findNextSubmittedTime(tx: Tx): Promise<number | undefined> {
  return (await first.first(tx, {}))?.dueAt ?? undefined;
}

type Lease = { now: number; until: number; limit: number };

const lease = statement((db, param: Param<Lease>) =>
  db
    .updateTable('submittedMessages')
    .set({ dueAt: param('until') })
    .where('messageId', 'in', (where) =>
      where
        .selectFrom('submittedMessages')
        .select('messageId')
        .where('dueAt', '<=', constant(param('now')))
        .orderBy('dueAt')
        .limit(constant(param('limit'))),
    )
    .returning('messageId'),
);

/** Leases the longest due messages. One that is not settled by `until`, in Unix milliseconds, is due again. */
export const leaseSubmitted = defineWrite(
  'queue.leaseSubmitted',
  async (tx, input: Lease): Promise<string[]> =>
    (await lease.all(tx, input)).map(({ messageId }) => messageId),
);

type Settled = Pick<SubmittedMessageRow, 'messageId' | 'told' | 'report' | 'reports'> & {
  /** The end of the lease of the check that is settled. */
  leasedUntil: number;
  dueAt: number | null;
};

const settle = statement((db, param: Param<Settled>) =>
  db
    .updateTable('submittedMessages')
    .set({
      told: param('told'),
      report: param('report'),
      reports: param('reports'),
      // A recipient that has reached its end during the check has made the message due for another one.
      dueAt: sql<
        number | null
      >`CASE WHEN dueAt = ${param('leasedUntil')} THEN ${param('dueAt')} ELSE dueAt END`,
    })
    .where('messageId', '=', param('messageId')),
);

/** Stores what the check of a message has led to, and when the next one is due; null means with the next end of a recipient. */
export const settleSubmitted = defineWrite(
  'queue.settleSubmitted',
  async (tx, input: Settled): Promise<void> => {
    await settle.all(tx, input);
  },
  { crashPoints: { beforeCommit: 'report-before-commit', afterCommit: 'report-after-commit' } },
);

/**
 * Deletes a message about which there is nothing more to report, with its bytes and attempts. Returns the bytes that are in a file, which
 * the caller discards.
 */
export const endSubmitted = defineWrite(
  'queue.endSubmitted',
  async (
    tx,
    { id, blobId, mailboxId }: Pick<MessageRow, 'id' | 'blobId' | 'mailboxId'>,
  ): Promise<StoredBytes | undefined> => {
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
    return file;
  },
);

/** Makes all messages due now whose time lies ahead after the wall clock was set back. A check too many reports nothing twice. */
export const moveDueSubmitted = defineWrite(
  'queue.moveDueSubmitted',
  async (tx, { now }: SetBack): Promise<void> => {
    await tx
      .updateTable('submittedMessages')
      .set({ dueAt: now })
      .where(sql<boolean>`"dueAt" IS NOT NULL`)
      .where('dueAt', '>', now)
      .execute();
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
