/**
 * Stores whom the daemon notifies when a message fails or is delayed. All SQL of this table is here, and nothing else writes it. A row waits with
 * its message; the write that settles the failure makes a task, which sends the notification and deletes the row.
 */
import type { FailureNotificationRow, NamedRecipient, NewFailureNotification } from '../db/inbound-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findRow, insertRow } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { MessageRow, RecipientRow } from '../db/tables.ts';
import { wantsNotification } from '../mail/smtp/dsn-parameters.ts';
import { scheduleTask } from '../tasks/store.ts';
import { parseQueueKey } from './queue-key.ts';

/** Kind of the tasks that send notifications. The reference of a task is the message. */
export const NOTIFICATION_TASKS = 'failure-notifications';

/** Age of a message at which its sender is told that it is delayed, in milliseconds. Other servers commonly wait as long. */
export const DELAY_NOTICE_AGE_MS = 4 * 3_600_000;

/** Stores whom the daemon notifies when the message fails, as part of the write that queues it. */
export async function insertNotification(tx: Tx, notification: NewFailureNotification): Promise<void> {
  const named = JSON.stringify(notification.named);
  await insertRow(tx, 'failureNotifications', { ...notification, named, delayReported: 0 });
}

/** Returns whom the daemon notifies when a message fails; undefined when nobody is, or was. */
export function findNotification(tx: Tx, messageId: string): Promise<FailureNotificationRow | undefined> {
  return findRow(tx, 'failureNotifications', { messageId });
}

/** Returns the recipients that the sender of a message named. A row of an earlier version names one, and the sender has asked for nothing. */
export function namedRecipients({ named, recipient: address }: FailureNotificationRow): NamedRecipient[] {
  return named === null ? [{ address, dsn: null }] : (JSON.parse(named) as NamedRecipient[]);
}

/**
 * Makes the notification due that the next server has taken a message, as part of the write that stores it, for a sender who wants to be told.
 */
export async function makeRelayNoticeDue(tx: Tx, recipient: Notified, dueAt: number): Promise<void> {
  const row = await findNotification(tx, recipient.messageId);
  if (row && namedRecipients(row).some(({ dsn }) => wantsNotification(dsn, 'SUCCESS')))
    await scheduleNotification(tx, recipient, dueAt);
}

/** Makes the notification about a message due, if there is one, as part of the write that settles the failure of a recipient. */
export async function makeNotificationDue(tx: Tx, recipient: Notified, dueAt: number): Promise<void> {
  if (await findNotification(tx, recipient.messageId)) await scheduleNotification(tx, recipient, dueAt);
}

/**
 * Makes the notification that a message is delayed due, as part of the write that stores the delay. Nobody is told twice, and a mailbox that
 * gets its message back is told of no delay.
 */
export async function makeDelayNoticeDue(tx: Tx, recipient: Notified, dueAt: number): Promise<void> {
  const row = await findNotification(tx, recipient.messageId);
  if (row && row.address !== '' && row.delayReported === 0) await scheduleNotification(tx, recipient, dueAt);
}

type Notified = Pick<RecipientRow, 'messageId' | 'queue'>;

async function scheduleNotification(
  tx: Tx,
  { messageId: reference, queue }: Notified,
  dueAt: number,
): Promise<void> {
  const tenantId = parseQueueKey(queue).tenantId as MessageRow['tenantId'];
  await scheduleTask(tx, { kind: NOTIFICATION_TASKS, reference, queueKey: tenantId, tenantId, dueAt });
}

const end = statement((db, param: Param<{ messageId: string }>) =>
  db.deleteFrom('failureNotifications').where('messageId', '=', param('messageId')).returning('messageId'),
);

/** Deletes a row, as part of the write that queues its notification. Returns false when another run has done so before. */
export async function endNotification(tx: Tx, messageId: string): Promise<boolean> {
  return (await end.first(tx, { messageId })) !== undefined;
}

/** Records that the delay of a message is told, as part of the write that queues the notification. Returns false when it was told before. */
export async function markDelayReported(tx: Tx, messageId: string): Promise<boolean> {
  const marked = await tx
    .updateTable('failureNotifications')
    .set({ delayReported: 1 })
    .where('messageId', '=', messageId)
    .where('delayReported', '=', 0)
    .returning('messageId')
    .executeTakeFirst();
  return marked !== undefined;
}

/** Deletes the rows of messages, as part of the write that deletes the messages. */
export async function deleteNotifications(tx: Tx, messageIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('failureNotifications').where('messageId', 'in', messageIds).execute();
}
