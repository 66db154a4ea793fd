/** Reads the tasks of received messages. Nothing is written here. */
import { sql } from 'kysely';
import type { ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { POST_TASKS, type TaskId, type TaskKind } from './store.ts';

type TenantId = ReceivedTaskRow['tenantId'];

/** The condition is literal, because SQLite uses a partial index only when it can see the index's condition. */
const isPending = sql<boolean>`state = 'pending'`;

/** A queue with tasks that are still pending. */
export type WaitingQueue = {
  queue: string;
  /** Tenant of the tasks; null for the installation's own mail. */
  tenantId: TenantId;
  /** Time at which the first task falls due, or at which its lease ends. */
  dueAt: number;
};

/** Skips from queue to queue in the index, so that the cost does not depend on the number of tasks. */
const waitingQueues = statement((db, param: Param<{ kind: TaskKind }>) => ({
  compile: () =>
    sql<WaitingQueue>`
      WITH RECURSIVE waiting (queue) AS (
        SELECT min(queue) FROM receivedTasks WHERE state = 'pending' AND kind = ${param('kind')}
        UNION ALL
        SELECT (SELECT min(later.queue) FROM receivedTasks AS later
                 WHERE later.state = 'pending' AND later.kind = ${param('kind')} AND later.queue > waiting.queue)
          FROM waiting WHERE waiting.queue IS NOT NULL
      )
      SELECT waiting.queue AS queue, first."tenantId" AS "tenantId", first."dueAt" AS "dueAt"
        FROM waiting JOIN receivedTasks AS first ON first.id = (
             SELECT one.id FROM receivedTasks AS one
              WHERE one.state = 'pending' AND one.kind = ${param('kind')} AND one.queue = waiting.queue
              ORDER BY one."dueAt" LIMIT 1)
       ORDER BY first."dueAt"`.compile(db),
}));

/** Returns the queues with pending tasks of a kind, the longest due first. */
export function listWaitingQueues(tx: Tx, kind: TaskKind): Promise<WaitingQueue[]> {
  return waitingQueues.all(tx, { kind });
}

const messageOf = statement((db, param: Param<{ id: TaskId }>) =>
  db.selectFrom('receivedTasks').select('messageId').where('id', '=', param('id')),
);

/** Returns the message of a post; undefined when it was deleted. */
export async function findPostedMessage(
  tx: Tx,
  id: TaskId,
): Promise<ReceivedTaskRow['messageId'] | undefined> {
  return (await messageOf.first(tx, { id }))?.messageId;
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

type FailingWindow = { queue: string; after: TaskId; before: TaskId; limit: number };

const failing = statement((db, param: Param<FailingWindow>) =>
  db
    .selectFrom('receivedTasks')
    .select('id')
    .where('queue', '=', param('queue'))
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

const tasksOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db
    .selectFrom('receivedTasks')
    .selectAll('receivedTasks')
    .leftJoin('tasks', (join) =>
      join.on('tasks.kind', '=', POST_TASKS).onRef('tasks.reference', '=', 'receivedTasks.id'),
    )
    .select(({ fn }) => [
      fn.coalesce('tasks.dueAt', 'receivedTasks.dueAt').as('dueAt'),
      fn.coalesce('tasks.runId', 'receivedTasks.runId').as('runId'),
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
  kind: TaskKind;
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
