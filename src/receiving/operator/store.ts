/** Reads the tasks of received messages for the operator. Nothing is written here. */
import type { ReceivedMessageRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import type { Tx } from '../../db/operation.ts';

type MessageId = ReceivedMessageRow['id'];

/** Number of tasks of a message that have the same kind and state. */
export type TaskCount = Pick<ReceivedTaskRow, 'messageId' | 'kind' | 'state'> & { count: number };

/** Returns how many tasks each message has, by kind and state. */
export async function countTasks(tx: Tx, messageIds: readonly MessageId[]): Promise<TaskCount[]> {
  if (messageIds.length === 0) return [];
  return tx
    .selectFrom('receivedTasks')
    .select(({ fn }) => ['messageId', 'kind', 'state', fn.countAll<number>().as('count')])
    .where('messageId', 'in', messageIds)
    .groupBy(['messageId', 'kind', 'state'])
    .orderBy('messageId')
    .orderBy('kind')
    .orderBy('state')
    .execute();
}
