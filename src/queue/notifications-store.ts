/**
 * Stores whom the daemon notifies when a message fails. All SQL of this table is here, and nothing else writes it. A row waits with
 * its message; the write that settles the failure makes a task, which sends the notification and deletes the row.
 */
import type { FailureNotificationRow } from '../db/inbound-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findRow, insertRow } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { MessageRow, RecipientRow } from '../db/tables.ts';
import { scheduleTask } from '../tasks/store.ts';
import { parseQueueKey } from './queue-key.ts';

/** Kind of the tasks that send notifications. The reference of a task is the message. */
export const NOTIFICATION_TASKS = 'failure-notifications';

/** Stores whom the daemon notifies when the message fails, as part of the write that queues it. */
export async function insertNotification(tx: Tx, notification: FailureNotificationRow): Promise<void> {
  await insertRow(tx, 'failureNotifications', notification);
}

/** Returns whom the daemon notifies when a message fails; undefined when nobody is, or was. */
export function findNotification(tx: Tx, messageId: string): Promise<FailureNotificationRow | undefined> {
  return findRow(tx, 'failureNotifications', { messageId });
}

/** Makes the notification about a message due, if there is one, as part of the write that settles the failure of a recipient. */
export async function makeNotificationDue(
  tx: Tx,
  { messageId: reference, queue }: Pick<RecipientRow, 'messageId' | 'queue'>,
  dueAt: number,
): Promise<void> {
  if (!(await findNotification(tx, reference))) return;
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

/** Deletes the rows of messages, as part of the write that deletes the messages. */
export async function deleteNotifications(tx: Tx, messageIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('failureNotifications').where('messageId', 'in', messageIds).execute();
}
