/**
 * Stores the tasks of received messages. All SQL of this table is here, and nothing else writes it. A task is pending
 * until it is done or has failed; while it runs, it is leased to this run of the daemon or of its thread.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { inSlices, MOVED_ROWS, moveSlice, type SetBack } from '../../db/due-times.ts';
import type { ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { cancelTask, cancelWaiting, scheduleTask } from '../../tasks/store.ts';
import { interruptedDelayMs } from '../../webhooks/posting/interrupted.ts';
import { MAX_ATTEMPTS } from '../../webhooks/posting/schedule.ts';
import { endReceived } from '../store.ts';

export type TaskKind = ReceivedTaskRow['kind'];
export type TaskId = ReceivedTaskRow['id'];

export type NewTask = Pick<
  ReceivedTaskRow,
  'id' | 'messageId' | 'position' | 'tenantId' | 'kind' | 'targetId' | 'createdAt'
>;

const insert = statement((db, param: Param<NewTask & Pick<ReceivedTaskRow, 'queue' | 'dueAt'>>) =>
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
    dueAt: param('dueAt'),
    createdAt: param('createdAt'),
  }),
);

/** Kind of the tasks of the engine that post to routes (routes/post). */
export const POST_TASKS = 'route-posts';

/** Stores a task that is due at once, as part of the write that accepts its message. */
export async function insertTask(tx: Tx, task: NewTask): Promise<void> {
  await insert.all(tx, {
    ...task,
    queue: queueOf(task),
    dueAt: task.kind === 'post' ? null : task.createdAt,
  });
  if (task.kind === 'post') await schedulePost(tx, task, task.createdAt);
}

function schedulePost(
  tx: Tx,
  { id, targetId, tenantId }: Pick<NewTask, 'id' | 'targetId' | 'tenantId'>,
  dueAt: number,
): Promise<void> {
  return scheduleTask(tx, { kind: POST_TASKS, reference: id, queueKey: targetId, tenantId, dueAt });
}

/** Returns the queue of a task: a route that never answers, or a damaged mailbox, must not delay the tenant's other ones. */
function queueOf({ kind, targetId, tenantId }: NewTask): string {
  return kind === 'post' || kind === 'mailbox' ? targetId : (tenantId ?? '');
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
  if (hasEnded) await endIfLast(tx, messageId, now);
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

type PostRecord = TaskResultOfPost & { id: TaskId; attempts: number; now: number };
type TaskResultOfPost = Omit<TaskResult, 'dueAt'>;

const recordStatement = statement((db, param: Param<PostRecord & { endedAt: number | null }>) =>
  db
    .updateTable('receivedTasks')
    .set({
      state: param('state'),
      attempts: param('attempts'),
      responseStatus: param('responseStatus'),
      responseTimeMs: param('responseTimeMs'),
      responseBody: param('responseBody'),
      error: param('error'),
      endedAt: param('endedAt'),
    })
    .where('id', '=', param('id'))
    .returning('messageId'),
);

/** Stores what a post has come to, and ends its message when it was the last task. */
export async function recordPost(tx: Tx, post: PostRecord): Promise<void> {
  const hasEnded = post.state !== 'pending';
  const row = await recordStatement.first(tx, { ...post, endedAt: hasEnded ? post.now : null });
  if (hasEnded && row) await endIfLast(tx, row.messageId, post.now);
}

async function endIfLast(tx: Tx, messageId: ReceivedTaskRow['messageId'], now: number): Promise<void> {
  if (!(await pendingOf.first(tx, { messageId }))) await endReceived(tx, messageId, now);
}

type FailWaiting = { queue: string; error: string; now: number };

/** Maximum number of tasks that one write ends, so that other writes wait only a short time. */
const MAX_ENDED_TASKS = 200;

const failStatement = statement((db, param: Param<{ id: TaskId } & Omit<FailWaiting, 'queue'>>) =>
  db
    .updateTable('receivedTasks')
    .set({ state: 'failed', error: param('error'), endedAt: param('now') })
    .where('id', '=', param('id'))
    .returning('messageId'),
);

/** Ends the waiting posts of a route that gets no more of them. Running ones settle by themselves. */
export async function failWaitingPosts(tx: Tx, { queue, error, now }: FailWaiting): Promise<void> {
  const canceled = await cancelWaiting(tx, { kind: POST_TASKS, queueKey: queue, limit: MAX_ENDED_TASKS });
  for (const id of canceled) {
    const row = await failStatement.first(tx, { id: id as TaskId, error, now });
    if (row) await endIfLast(tx, row.messageId, now);
  }
}

const beginAnew = statement((db, param: Param<{ id: TaskId; now: number }>) =>
  db
    .updateTable('receivedTasks')
    .set({
      state: 'pending',
      attempts: 0,
      dueAt: sql`CASE WHEN kind <> 'post' THEN ${param('now')} END`,
      runId: null,
      responseStatus: null,
      responseTimeMs: null,
      responseBody: null,
      error: null,
      endedAt: null,
    })
    .where('id', '=', param('id'))
    .returning(['id', 'kind', 'targetId', 'tenantId']),
);

/** Makes a task of any state due now, with as many attempts as a new one. It must not be leased. */
export async function makeTaskDueAgain(tx: Tx, id: TaskId, now: number): Promise<void> {
  const row = await beginAnew.first(tx, { id, now });
  if (row?.kind === 'post') await schedulePost(tx, row, now);
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
type MovedAfter = { kind: string; queue: string; dueAt: number; id: string };

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
const moveDueTasks = defineWrite(
  'inbound.moveDueTasks',
  async (tx, { after, ...setBack }: SetBack & { after: MovedAfter }): Promise<MovedAfter | undefined> => {
    const rows = await pendingAfter.all(tx, after);
    return moveSlice(rows, setBack, async ({ id }, dueAt) => {
      await setDueAt.all(tx, { id, dueAt });
    });
  },
);

/** Moves the due times of all tasks when the wall clock was set back. */
export function moveReceivedTasks(db: Db, setBack: SetBack): Promise<void> {
  return inSlices<MovedAfter>({ kind: '', queue: '', dueAt: 0, id: '' }, (after) =>
    db.commit(moveDueTasks, { ...setBack, after }),
  );
}

const deleteOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db.deleteFrom('receivedTasks').where('messageId', '=', param('messageId')).returning(['id', 'kind']),
);

/** Deletes the tasks of a message, as part of the write that deletes the message. */
export async function deleteTasksOf(tx: Tx, messageId: ReceivedTaskRow['messageId']): Promise<void> {
  for (const { id, kind } of await deleteOf.all(tx, { messageId }))
    if (kind === 'post') await cancelTask(tx, { kind: POST_TASKS, reference: id });
}
