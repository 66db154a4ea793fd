/** Reads the tasks of received messages. Nothing is written here. */
import { sql } from 'kysely';
import type { ReceivedMessageRow, ReceivedRecipientRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { POST_TASKS, type ReceivedKind, type TaskId } from './store.ts';

/** The conditions are literal, because SQLite uses the partial index `receivedTasksOpen` only when it can see its condition. */
const isOpen = sql<boolean>`state <> 'done'`;
const isPending = sql<boolean>`state = 'pending' AND ${isOpen}`;

/** The fields of a task that its run reads. */
export type ReceivedTask = Pick<
  ReceivedTaskRow,
  'id' | 'messageId' | 'position' | 'tenantId' | 'targetId' | 'createdAt'
>;

const byId = statement((db, param: Param<{ id: TaskId }>) =>
  db
    .selectFrom('receivedTasks')
    .select(['id', 'messageId', 'position', 'tenantId', 'targetId', 'createdAt'])
    .where('id', '=', param('id')),
);

/** Returns a task; undefined when it was deleted with its message. */
export function findReceivedTask(tx: Tx, id: TaskId): Promise<ReceivedTask | undefined> {
  return byId.first(tx, { id });
}

/** A message that is posted to a route, and its recipients that led there, in the order of the envelope. */
export type PostedMail = { message: ReceivedMessageRow; recipients: ReceivedRecipientRow[] };

const messageOfTask = statement((db, param: Param<{ id: TaskId }>) =>
  db
    .selectFrom('receivedTasks as task')
    .innerJoin('receivedMessages as message', 'message.id', 'task.messageId')
    .selectAll('message')
    .where('task.id', '=', param('id')),
);

const recipientsOfTask = statement((db, param: Param<{ id: TaskId }>) =>
  db
    .selectFrom('receivedTasks as task')
    .innerJoin('receivedRecipients as recipient', (join) =>
      join
        .onRef('recipient.messageId', '=', 'task.messageId')
        .onRef('recipient.targetId', '=', 'task.targetId'),
    )
    .selectAll('recipient')
    .where('task.id', '=', param('id'))
    .orderBy('recipient.position'),
);

/** Returns what a post is about; undefined when the message was deleted. Both reads run before it waits for anything. */
export async function findPostedMail(tx: Tx, id: TaskId): Promise<PostedMail | undefined> {
  const reads = [messageOfTask.first(tx, { id }), recipientsOfTask.all(tx, { id })] as const;
  const [message, recipients] = await Promise.all(reads);
  return message && { message, recipients };
}

const pendingAt = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId' | 'position'>>) =>
  db
    .selectFrom('receivedTasks')
    .select('id')
    .where('messageId', '=', param('messageId'))
    .where('position', '=', param('position'))
    .where('state', '=', 'pending')
    .limit(1),
);

/** Returns true while a task for this recipient of a message is to be done. */
export async function isTaskPending(
  tx: Tx,
  { messageId, position }: Pick<ReceivedTaskRow, 'messageId' | 'position'>,
): Promise<boolean> {
  return (await pendingAt.first(tx, { messageId, position })) !== undefined;
}

const oldestPost = statement((db, param: Param<Pick<ReceivedTaskRow, 'queue'>>) =>
  db
    .selectFrom('receivedTasks')
    .select('createdAt')
    .where(isPending)
    .where(sql<boolean>`kind = 'post'`)
    .where('queue', '=', param('queue'))
    .orderBy('id')
    .limit(1),
);

/** Returns when the oldest post that waits for a route was created, in Unix milliseconds; null when none waits. */
export async function findPostWaitingSince(tx: Tx, queue: ReceivedTaskRow['queue']): Promise<number | null> {
  return (await oldestPost.first(tx, { queue }))?.createdAt ?? null;
}

const oldestOfAll = statement((db) =>
  db
    .selectFrom('tasks')
    .innerJoin('receivedTasks as received', (join) => join.onRef('received.id', '=', 'tasks.reference'))
    .select('received.createdAt')
    .where('tasks.kind', '=', POST_TASKS)
    .orderBy('tasks.reference')
    .limit(1),
);

/** Returns when the oldest post to any route was created that is still to be made, in Unix milliseconds. */
export async function findOldestPost(tx: Tx): Promise<number | undefined> {
  return (await oldestOfAll.first(tx, {}))?.createdAt;
}

type FailingWindow = { queue: string; after: TaskId; before: TaskId; limit: number };

const failing = statement((db, param: Param<FailingWindow>) =>
  db
    .selectFrom('receivedTasks')
    .select('id')
    .where('queue', '=', param('queue'))
    .where(isOpen)
    .where('state', 'in', ['failed', 'pending'])
    .where('attempts', '>', 0)
    .where('id', '>', constant(param('after')))
    .where('id', '<', constant(param('before')))
    .limit(constant(param('limit'))),
);

/** Returns the number of tasks of a queue in the window that have failed so far, at most `limit`. */
export async function countFailingTasks(tx: Tx, window: FailingWindow): Promise<number> {
  return (await failing.all(tx, window)).length;
}

/** Does the same as `engineKindOf`. */
const engineKind = sql<string>`CASE "receivedTasks".kind WHEN 'post' THEN ${sql.lit(POST_TASKS)} ELSE 'received-' || "receivedTasks".kind END`;

const tasksOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db
    .selectFrom('receivedTasks')
    .selectAll('receivedTasks')
    .leftJoin('tasks', (join) =>
      join.on('tasks.kind', '=', engineKind).onRef('tasks.reference', '=', 'receivedTasks.id'),
    )
    .select(({ fn }) => [
      'tasks.dueAt as dueAt',
      'tasks.runId as runId',
      fn.coalesce('tasks.attempts', 'receivedTasks.attempts').as('attempts'),
    ])
    .where('messageId', '=', param('messageId'))
    .orderBy('position')
    .orderBy('receivedTasks.id'),
);

/** Returns the tasks of a message, in the order of its recipients. */
export function listTasksOf(tx: Tx, messageId: ReceivedTaskRow['messageId']): Promise<ReceivedTaskRow[]> {
  return tasksOf.all(tx, { messageId });
}

export type KindLoad = {
  kind: ReceivedKind;
  /** Number of tasks that have not ended. */
  waiting: number;
  /** Creation of the oldest of them, in Unix milliseconds. */
  since: number;
};

/** Returns the number and the age of the pending tasks of each kind that has some. */
export const countPendingTasks = defineRead(
  'inbound.countPendingTasks',
  (tx, _input: undefined): Promise<KindLoad[]> =>
    tx
      .selectFrom('receivedTasks')
      .select(({ fn }) => ['kind', fn.countAll<number>().as('waiting'), fn.min('createdAt').as('since')])
      .where(isPending)
      .groupBy('kind')
      .execute(),
);
