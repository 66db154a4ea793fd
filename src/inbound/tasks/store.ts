/**
 * Stores the tasks of received messages. All SQL of this table is here, and nothing else writes it. A task is pending
 * until it is done or has failed; while it runs, it is leased to this run of the daemon or of its thread.
 */
import { sql } from 'kysely';
import { MOVED_ROWS, moveSlice, type SetBack } from '../../db/due-times.ts';
import type { ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { defineRead, defineWrite, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { interruptedDelayMs } from '../../webhooks/posting/interrupted.ts';
import { MAX_ATTEMPTS } from '../../webhooks/posting/schedule.ts';
import { endReceived } from '../store.ts';

export type TaskKind = ReceivedTaskRow['kind'];
type TaskId = ReceivedTaskRow['id'];
type TenantId = ReceivedTaskRow['tenantId'];

export type NewTask = Pick<
  ReceivedTaskRow,
  'id' | 'messageId' | 'position' | 'tenantId' | 'kind' | 'targetId' | 'createdAt'
>;

const insert = statement((db, param: Param<NewTask & { queue: string }>) =>
  db.insertInto('receivedTasks').values({
    id: param('id'),
    messageId: param('messageId'),
    position: param('position'),
    tenantId: param('tenantId'),
    kind: param('kind'),
    targetId: param('targetId'),
    queue: param('queue'),
    state: 'pending',
    attempts: 0,
    dueAt: param('createdAt'),
    createdAt: param('createdAt'),
  }),
);

/** Stores a task that is due at once, as part of the write that accepts its message. */
export async function insertTask(tx: Tx, task: NewTask): Promise<void> {
  await insert.all(tx, { ...task, queue: queueOf(task) });
}

/** Returns the queue of a task: a route that never answers, or a damaged mailbox, must not delay the tenant's other ones. */
function queueOf({ kind, targetId, tenantId }: NewTask): string {
  return kind === 'post' || kind === 'mailbox' ? targetId : (tenantId ?? '');
}

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

/** A task while it runs. `attempts` counts this run. */
export type LeasedTask = Pick<
  ReceivedTaskRow,
  'id' | 'messageId' | 'position' | 'tenantId' | 'kind' | 'targetId' | 'queue' | 'attempts' | 'createdAt'
> & { runId: string };

/** The condition is literal, because SQLite uses a partial index only when it can see the index's condition. */
const isPending = sql<boolean>`state = 'pending'`;

type LeaseDue = {
  kind: TaskKind;
  queue: string;
  now: number;
  /** End of the lease in Unix milliseconds. An unsettled task is due again from then on. */
  until: number;
  runId: string;
  limit: number;
};

const leaseDueStatement = statement((db, param: Param<LeaseDue>) =>
  db
    .updateTable('receivedTasks')
    .set((set) => ({ dueAt: param('until'), runId: param('runId'), attempts: set('attempts', '+', 1) }))
    .where('id', 'in', (where) =>
      where
        .selectFrom('receivedTasks')
        .select('id')
        .where(isPending)
        .where('kind', '=', param('kind'))
        .where('queue', '=', param('queue'))
        .where('dueAt', '<=', param('now'))
        .orderBy('dueAt')
        .limit(param('limit')),
    )
    .returning([
      'id',
      'messageId',
      'position',
      'tenantId',
      'kind',
      'targetId',
      'queue',
      'attempts',
      'createdAt',
    ]),
);

/**
 * Leases the longest due tasks of a queue, also those whose lease has run out, and counts the attempt. A task whose
 * attempts are used up, the last of them interrupted, is one too (`isUsedUp`).
 */
export async function leaseDue(tx: Tx, lease: LeaseDue): Promise<LeasedTask[]> {
  const rows = await leaseDueStatement.all(tx, lease);
  return rows.map((row) => ({ ...row, runId: lease.runId }));
}

/** Returns true for a leased task that must not be run any more, because each of its attempts came to nothing. */
export function isUsedUp({ attempts }: Pick<LeasedTask, 'attempts'>): boolean {
  return attempts > MAX_ATTEMPTS;
}

/** The error of such a task. */
export const INTERRUPTED = 'The last attempt was interrupted';

/** The result of an attempt: the task has ended, or is due again. */
export type TaskResult = Pick<
  ReceivedTaskRow,
  'state' | 'dueAt' | 'responseStatus' | 'responseTimeMs' | 'responseBody' | 'error'
>;

export type Settlement = Pick<LeasedTask, 'id' | 'messageId' | 'attempts' | 'runId'> &
  TaskResult & { now: number };

const settleStatement = statement((db, param: Param<Settlement & { endedAt: number | null }>) =>
  db
    .updateTable('receivedTasks')
    .set({
      state: param('state'),
      dueAt: param('dueAt'),
      runId: null,
      responseStatus: param('responseStatus'),
      responseTimeMs: param('responseTimeMs'),
      responseBody: param('responseBody'),
      error: param('error'),
      endedAt: param('endedAt'),
    })
    .where('id', '=', param('id'))
    .where(isPending)
    .where('runId', '=', param('runId'))
    .where('attempts', '=', param('attempts'))
    .returning('id'),
);

const pendingOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db
    .selectFrom('receivedTasks')
    .select('id')
    .where('messageId', '=', param('messageId'))
    .where('state', '=', 'pending')
    .limit(1),
);

/**
 * Settles a task, and ends its message when it was the last one. Returns false, and changes nothing, when the lease is
 * no longer valid.
 */
export async function settleLeased(tx: Tx, settlement: Settlement): Promise<boolean> {
  const { messageId, state, now } = settlement;
  const hasEnded = state !== 'pending';
  if (!(await settleStatement.first(tx, { ...settlement, endedAt: hasEnded ? now : null }))) return false;
  if (hasEnded && !(await pendingOf.first(tx, { messageId }))) await endReceived(tx, messageId, now);
  return true;
}

const putBackStatement = statement(
  (db, param: Param<Pick<Settlement, 'id' | 'attempts' | 'runId'> & { dueAt: number }>) =>
    db
      .updateTable('receivedTasks')
      .set((set) => ({ dueAt: param('dueAt'), runId: null, attempts: set('attempts', '-', 1) }))
      .where('id', '=', param('id'))
      .where(isPending)
      .where('runId', '=', param('runId'))
      .where('attempts', '=', param('attempts')),
);

/** Makes a leased task due again that was not run, because something was busy. It does not count as an attempt. */
export const putBackTask = defineWrite(
  'inbound.putBackTask',
  async (tx, { id, attempts, runId, dueAt }: LeasedTask & { dueAt: number }): Promise<void> => {
    await putBackStatement.all(tx, { id, attempts, runId, dueAt });
  },
);

type FailWaiting = { kind: TaskKind; queue: string; error: string; now: number };

/** Maximum number of tasks that one write ends, so that other writes wait only a short time. */
const MAX_ENDED_TASKS = 200;

const failWaitingStatement = statement((db, param: Param<FailWaiting>) =>
  db
    .updateTable('receivedTasks')
    .set({ state: 'failed', dueAt: null, runId: null, error: param('error'), endedAt: param('now') })
    .where('id', 'in', (where) =>
      where
        .selectFrom('receivedTasks')
        .select('id')
        .where(isPending)
        .where('kind', '=', param('kind'))
        .where('queue', '=', param('queue'))
        .where((is) => is.or([is('runId', 'is', null), is('dueAt', '<=', param('now'))]))
        .orderBy('dueAt')
        .limit(MAX_ENDED_TASKS),
    )
    .returning('messageId'),
);

/** Ends the waiting tasks of a queue that nothing serves any more. Running ones settle by themselves. */
export async function failWaitingTasks(tx: Tx, failure: FailWaiting): Promise<void> {
  const ended = await failWaitingStatement.all(tx, failure);
  for (const messageId of new Set(ended.map((row) => row.messageId)))
    if (!(await pendingOf.first(tx, { messageId }))) await endReceived(tx, messageId, failure.now);
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

const beginAnew = statement((db, param: Param<{ id: TaskId; now: number }>) =>
  db
    .updateTable('receivedTasks')
    .set({
      state: 'pending',
      attempts: 0,
      dueAt: param('now'),
      runId: null,
      responseStatus: null,
      responseTimeMs: null,
      responseBody: null,
      error: null,
      endedAt: null,
    })
    .where('id', '=', param('id')),
);

/** Makes a task of any state due now, with as many attempts as a new one. It must not be leased. */
export async function makeTaskDueAgain(tx: Tx, id: TaskId, now: number): Promise<void> {
  await beginAnew.all(tx, { id, now });
}

const tasksOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId' | 'kind'>>) =>
  db
    .selectFrom('receivedTasks')
    .selectAll()
    .where('messageId', '=', param('messageId'))
    .where('kind', '=', param('kind'))
    .orderBy('position'),
);

/** Returns the tasks of a kind that a message has, in the order of its recipients. */
export function listTasksOf(
  tx: Tx,
  of: Pick<ReceivedTaskRow, 'messageId' | 'kind'>,
): Promise<ReceivedTaskRow[]> {
  return tasksOf.all(tx, of);
}

type Release = { kind: TaskKind; now: number; runId: string };

const releaseStatement = statement((db, param: Param<Release>) =>
  db
    .updateTable('receivedTasks')
    .set({ dueAt: sql`${param('now')} + ${interruptedDelayMs}`, runId: null })
    .where('kind', '=', param('kind'))
    .where('runId', 'is not', null)
    .where('runId', '!=', param('runId'))
    .returning('id'),
);

/** Ends the leases of an earlier run. Most tasks are due at once (`INTERRUPTED_DELAYS_MS`). Returns their number. */
export const releaseTasks = defineWrite(
  'inbound.releaseTasks',
  async (tx, release: Release): Promise<number> => (await releaseStatement.all(tx, release)).length,
);

/** Position of a row in the order in which rows are moved. */
export type MovedAfter = { kind: string; queue: string; dueAt: number; id: string };

const pendingAfter = statement((db, param: Param<MovedAfter>) =>
  db
    .selectFrom('receivedTasks')
    .select(['id', 'kind', 'queue', 'dueAt'])
    .where(isPending)
    .where(
      sql<boolean>`(kind, queue, "dueAt", id) > (${constant(param('kind'))}, ${constant(param('queue'))}, ${constant(param('dueAt'))}, ${constant(param('id'))})`,
    )
    .orderBy('kind')
    .orderBy('queue')
    .orderBy('dueAt')
    .orderBy('id')
    .limit(MOVED_ROWS),
);

const setDueAt = statement((db, param: Param<{ id: TaskId; dueAt: number }>) =>
  db
    .updateTable('receivedTasks')
    .set({ dueAt: param('dueAt') })
    .where('id', '=', param('id')),
);

/** Moves due times, and the ends of leases, when the wall clock was set back. Returns the last row of a full slice. */
export const moveDueTasks = defineWrite(
  'inbound.moveDueTasks',
  async (tx, { after, ...setBack }: SetBack & { after: MovedAfter }): Promise<MovedAfter | undefined> => {
    const rows = await pendingAfter.all(tx, after);
    return moveSlice(rows, setBack, async ({ id }, dueAt) => {
      await setDueAt.all(tx, { id, dueAt });
    });
  },
);

const deleteOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db.deleteFrom('receivedTasks').where('messageId', '=', param('messageId')),
);

/** Deletes the tasks of a message, as part of the write that deletes the message. */
export async function deleteTasksOf(tx: Tx, messageId: ReceivedTaskRow['messageId']): Promise<void> {
  await deleteOf.all(tx, { messageId });
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
