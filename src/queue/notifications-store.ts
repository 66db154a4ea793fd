/**
 * Stores whom the daemon notifies when a message fails. All SQL of this table is here, and nothing else writes it. A row waits with its message, and
 * is due from the write that settles the failure. While its notification is made, the row is leased.
 */

import { sql } from 'kysely';
import type { SetBack } from '../db/due-times.ts';
import type { FailureNotificationRow } from '../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { insertRow, updateRows } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';

export type NewNotification = Pick<FailureNotificationRow, 'messageId' | 'address' | 'recipient'>;

/** A row whose notification is made. `attempts` counts this run. */
export type LeasedNotification = NewNotification & Pick<FailureNotificationRow, 'attempts'>;

/** Stores whom the daemon notifies when the message fails, as part of the write that queues it. */
export async function insertNotification(tx: Tx, notification: NewNotification): Promise<void> {
  await insertRow(tx, 'failureNotifications', {
    messageId: notification.messageId,
    address: notification.address,
    recipient: notification.recipient,
    attempts: 0,
  });
}

/** Makes the notification about a message due, if there is one, as part of the write that settles its failure. */
export async function makeNotificationDue(tx: Tx, messageId: string, now: number): Promise<void> {
  await updateRows(tx, 'failureNotifications', { set: { dueAt: now }, where: { messageId } });
}

const first = statement((db) =>
  db
    .selectFrom('failureNotifications')
    .select('dueAt')
    .where('dueAt', 'is not', null)
    .orderBy('dueAt')
    .limit(1),
);

/** Returns the time at which the next notification falls due; undefined when there is none. */
export async function findNextNotificationTime(tx: Tx): Promise<number | undefined> {
  return (await first.first(tx, {}))?.dueAt ?? undefined;
}

type Lease = { now: number; until: number; limit: number };

const lease = statement((db, param: Param<Lease>) =>
  db
    .updateTable('failureNotifications')
    .set((set) => ({ dueAt: param('until'), attempts: set('attempts', '+', 1) }))
    .where('messageId', 'in', (where) =>
      where
        .selectFrom('failureNotifications')
        .select('messageId')
        .where('dueAt', '<=', constant(param('now')))
        .orderBy('dueAt')
        .limit(constant(param('limit'))),
    )
    .returning(['messageId', 'address', 'recipient', 'attempts']),
);

/** Leases the longest due rows. A row that is not ended by `until`, in Unix milliseconds, is due again. */
export const leaseNotifications = defineWrite(
  'queue.leaseNotifications',
  (tx, input: Lease): Promise<LeasedNotification[]> => lease.all(tx, input),
);

type PutBack = Pick<FailureNotificationRow, 'messageId' | 'attempts'> & { dueAt: number };

/** Makes a row due again at `dueAt`, in Unix milliseconds, with this number of attempts. */
export const putBackNotification = defineWrite(
  'queue.putBackNotification',
  async (tx, input: PutBack): Promise<void> => {
    await updateRows(tx, 'failureNotifications', {
      set: { dueAt: input.dueAt, attempts: input.attempts },
      where: { messageId: input.messageId },
    });
  },
);

const end = statement((db, param: Param<{ messageId: string }>) =>
  db.deleteFrom('failureNotifications').where('messageId', '=', param('messageId')).returning('messageId'),
);

/** Deletes a row, as part of the write that queues its notification. Returns false when another run has done so before. */
export async function endNotification(tx: Tx, messageId: string): Promise<boolean> {
  return (await end.first(tx, { messageId })) !== undefined;
}

/** Deletes the rows of messages, as part of the write that deletes the messages. */
export async function deleteNotifications(tx: Tx, messageIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('failureNotifications').where('messageId', 'in', messageIds).execute();
}

/** Makes all rows due now whose time lies ahead after the wall clock was set back. Leases end with it, which repeats nothing. */
export const moveDueNotifications = defineWrite(
  'queue.moveDueNotifications',
  async (tx, { now }: SetBack): Promise<void> => {
    await tx
      .updateTable('failureNotifications')
      .set({ dueAt: now })
      .where(sql<boolean>`"dueAt" IS NOT NULL`)
      .where('dueAt', '>', now)
      .execute();
  },
);
