/**
 * Stores the tasks of received messages. All SQL of this table is here, and nothing else writes it. A row says what is to be done
 * and what has come of it; when it is done is up to the task of the engine (tasks/store.ts) that has the id of the row as its
 * reference.
 */
import type { ReceivedTaskRow } from '../../db/inbound-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { type Param, statement } from '../../db/statement.ts';
import {
  cancelTask,
  cancelWaiting,
  completeTask,
  type Lease,
  retryTask,
  scheduleTask,
  type TaskEnd,
} from '../../tasks/store.ts';
import { MAX_ATTEMPTS } from '../../webhooks/posting/schedule.ts';
import { endReceived } from '../store.ts';

export type ReceivedKind = ReceivedTaskRow['kind'];
export type TaskId = ReceivedTaskRow['id'];

export type NewTask = Pick<
  ReceivedTaskRow,
  'id' | 'messageId' | 'position' | 'tenantId' | 'kind' | 'targetId' | 'createdAt'
>;

const insert = statement((db, param: Param<NewTask & Pick<ReceivedTaskRow, 'queue'>>) =>
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
    createdAt: param('createdAt'),
  }),
);

/** Kind of the tasks of the engine that post to routes (routes/post). */
export const POST_TASKS = 'route-posts';

/** Returns the kind of the task engine that runs the tasks of a kind. */
export function engineKindOf(kind: ReceivedKind): string {
  return kind === 'post' ? POST_TASKS : `received-${kind}`;
}

/** Returns the queue of a task: a route that never answers, or a damaged mailbox, must not delay the tenant's other ones. */
function queueOf({ kind, targetId, tenantId }: Pick<NewTask, 'kind' | 'targetId' | 'tenantId'>): string {
  return kind === 'post' || kind === 'mailbox' ? targetId : (tenantId ?? '');
}

/** Stores a task that is due at once, as part of the write that accepts its message. */
export async function insertTask(tx: Tx, task: NewTask): Promise<void> {
  const queue = queueOf(task);
  await insert.all(tx, { ...task, queue });
  await schedule(tx, { ...task, queue }, task.createdAt);
}

function schedule(
  tx: Tx,
  { id, kind, queue, tenantId }: Pick<ReceivedTaskRow, 'id' | 'kind' | 'queue' | 'tenantId'>,
  dueAt: number,
): Promise<void> {
  // The engine needs a name also for the queue of the installation's own mail.
  const queueKey = queue || 'installation';
  return scheduleTask(tx, { kind: engineKindOf(kind), reference: id, queueKey, tenantId, dueAt });
}

const pendingOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db
    .selectFrom('receivedTasks')
    .select('id')
    .where('messageId', '=', param('messageId'))
    .where('state', '=', 'pending')
    .limit(1),
);

type Recorded = Pick<
  ReceivedTaskRow,
  'id' | 'state' | 'attempts' | 'responseStatus' | 'responseTimeMs' | 'responseBody' | 'error'
> & { now: number };

const recordStatement = statement((db, param: Param<Recorded & { endedAt: number | null }>) =>
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

/** Stores what an attempt has come to, and ends the message when this was its last task. */
export async function recordTask(tx: Tx, task: Recorded): Promise<void> {
  const hasEnded = task.state !== 'pending';
  const row = await recordStatement.first(tx, { ...task, endedAt: hasEnded ? task.now : null });
  if (hasEnded && row) await endIfLast(tx, row.messageId, task.now);
}

/** An attempt that has ended its task, when `dueAt` is null, or after which the task is due again. */
export type Settlement = Pick<ReceivedTaskRow, 'state' | 'dueAt' | 'error'> & { lease: Lease; now: number };

/** Returns the settlement of a task that is done, for a write that also stores other rows. */
export function settlementOfDone(lease: Lease, now: number): Settlement {
  return { lease, now, state: 'done', dueAt: null, error: null };
}

/** Settles a task that posts nothing. When the answer is `stale`, the task was no longer leased to the run, and nothing has changed. */
export async function settleReceived(tx: Tx, { lease, dueAt, ...result }: Settlement): Promise<TaskEnd> {
  const end = dueAt === null ? await completeTask.run(tx, lease) : await retryTask.run(tx, { lease, dueAt });
  if (end === 'stale') return end;
  const attempts = Math.min(lease.attempts, MAX_ATTEMPTS);
  await recordTask(tx, { ...NO_RESPONSE, ...result, id: lease.reference as TaskId, attempts });
  return end;
}

const NO_RESPONSE = { responseStatus: null, responseTimeMs: null, responseBody: null };

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

const beginAnew = statement((db, param: Param<{ id: TaskId }>) =>
  db
    .updateTable('receivedTasks')
    .set({
      state: 'pending',
      attempts: 0,
      responseStatus: null,
      responseTimeMs: null,
      responseBody: null,
      error: null,
      endedAt: null,
    })
    .where('id', '=', param('id'))
    .returning(['id', 'kind', 'queue', 'tenantId']),
);

/** Makes a task of any state due now, with as many attempts as a new one. It must not be leased. */
export async function makeTaskDueAgain(tx: Tx, id: TaskId, now: number): Promise<void> {
  const row = await beginAnew.first(tx, { id });
  if (row) await schedule(tx, row, now);
}

const deleteOf = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db.deleteFrom('receivedTasks').where('messageId', '=', param('messageId')).returning(['id', 'kind']),
);

/** Deletes the tasks of a message, as part of the write that deletes the message. */
export async function deleteTasksOf(tx: Tx, messageId: ReceivedTaskRow['messageId']): Promise<void> {
  for (const { id, kind } of await deleteOf.all(tx, { messageId }))
    await cancelTask(tx, { kind: engineKindOf(kind), reference: id });
}
