/**
 * Stores the tasks of all kinds. All SQL of this table is here, and nothing else writes it. A feature schedules, settles and
 * cancels tasks within its own writes, so that a task and what it is about change together.
 */
import { sql } from 'kysely';
import { wakeAfterCommit } from '../db/commit-wakeups.ts';
import type { SetBack } from '../db/due-times.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { TaskRow } from '../db/own-tables.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import { notFound } from '../system/errors.ts';

/** The columns that name a task. */
export type TaskKey = Pick<TaskRow, 'kind' | 'reference'>;
/** Whose a task is. */
export type TaskOwner = Pick<TaskRow, 'tenantId'>;
type QueueKey = Pick<TaskRow, 'kind' | 'queueKey'>;

/** A task that waits until `dueAt`. */
export type NewTask = Pick<TaskRow, 'kind' | 'reference' | 'queueKey' | 'tenantId'> & { dueAt: number };

/** Identifies one lease of a task: `runId` is different for each write that leases. What another lease has led to is ignored. */
export type Lease = TaskKey & { runId: string; attempts: number };

/** A leased task. */
export type LeasedTask = Lease & Pick<TaskRow, 'queueKey' | 'tenantId'>;

/** Names what has become of a run: its task is done, waits again, or has failed. `stale`: the task was no longer leased to the run. */
export type TaskEnd = 'done' | 'again' | 'failed' | 'stale';

/** The conditions are literal, because SQLite uses a partial index only when it can see the index's condition. */
export const isWaiting = sql<boolean>`"runId" IS NULL AND "dueAt" IS NOT NULL`;
const isLeased = sql<boolean>`"runId" IS NOT NULL`;

const schedule = statement((db, param: Param<NewTask>) =>
  db
    .insertInto('tasks')
    .values({
      kind: param('kind'),
      reference: param('reference'),
      queueKey: param('queueKey'),
      tenantId: param('tenantId'),
      dueAt: param('dueAt'),
      attempts: 0,
    })
    .onConflict((conflict) =>
      conflict.columns(['kind', 'reference']).doUpdateSet({
        queueKey: sql`excluded."queueKey"`,
        dueAt: sql`excluded."dueAt"`,
        attempts: sql`CASE WHEN tasks."runId" IS NULL THEN 0 ELSE tasks.attempts END`,
        error: null,
      }),
    ),
);

/**
 * Makes a task due at `dueAt`, in Unix milliseconds, whatever its state was, and wakes the engine after the commit. One that
 * runs is due again when its run has ended.
 */
export async function scheduleTask(tx: Tx, task: NewTask): Promise<void> {
  await schedule.all(tx, task);
  wakeAfterCommit('tasks', subjectOf(task.kind, task.queueKey));
}

/** Makes a task due that does not exist. One that waits, runs or has failed stays as it is. */
export async function scheduleNewTask(tx: Tx, task: NewTask): Promise<void> {
  if (!(await findTask(tx, task))) await scheduleTask(tx, task);
}

/** Returns the subject of a wake-up for a queue of a kind, or for a task by its reference. */
export function subjectOf(kind: string, name: string): string {
  return `${kind} ${name}`;
}

const remove = statement((db, param: Param<TaskKey>) =>
  db.deleteFrom('tasks').where('kind', '=', param('kind')).where('reference', '=', param('reference')),
);

/** Removes a task. Its run, if there is one, is aborted after the commit, and what it leads to is ignored. */
export async function cancelTask(tx: Tx, task: TaskKey): Promise<void> {
  await remove.all(tx, task);
  wakeAfterCommit('canceledTasks', subjectOf(task.kind, task.reference));
}

const removeWaiting = statement((db, param: Param<QueueKey & { limit: number }>) =>
  db
    .deleteFrom('tasks')
    .where('kind', '=', param('kind'))
    .where('reference', 'in', (where) =>
      where
        .selectFrom('tasks')
        .select('reference')
        .where('kind', '=', param('kind'))
        .where('queueKey', '=', param('queueKey'))
        .where(isWaiting)
        .orderBy('dueAt')
        .limit(param('limit')),
    )
    .returning('reference'),
);

/** Removes up to `limit` tasks of a queue that wait, the longest due first, and returns what they are about. */
export async function cancelWaiting(tx: Tx, queue: QueueKey & { limit: number }): Promise<string[]> {
  return (await removeWaiting.all(tx, queue)).map(({ reference }) => reference);
}

const byKey = statement((db, param: Param<TaskKey>) =>
  db
    .selectFrom('tasks')
    .selectAll()
    .where('kind', '=', param('kind'))
    .where('reference', '=', param('reference')),
);

/** Returns a task, or undefined when there is none for this reference. */
export function findTask(tx: Tx, task: TaskKey): Promise<TaskRow | undefined> {
  return byKey.first(tx, task);
}

const removeLeased = statement((db, param: Param<Lease>) =>
  db
    .deleteFrom('tasks')
    .where('kind', '=', param('kind'))
    .where('reference', '=', param('reference'))
    .where('runId', '=', param('runId'))
    .where('attempts', '=', param('attempts'))
    .where('dueAt', 'is', null)
    .returning('reference'),
);

const release = statement((db, param: Param<Lease & Release>) =>
  db
    .updateTable('tasks')
    .set({
      runId: null,
      dueAt: sql`coalesce("dueAt", ${param('releaseAt')})`,
      attempts: sql`CASE WHEN "dueAt" IS NULL THEN ${param('attemptsLeft')} ELSE 0 END`,
      error: sql`CASE WHEN "dueAt" IS NULL THEN ${param('error')} END`,
    })
    .where('kind', '=', param('kind'))
    .where('reference', '=', param('reference'))
    .where('runId', '=', param('runId'))
    .where('attempts', '=', param('attempts'))
    .returning('dueAt'),
);

type Release = { releaseAt: number | null; attemptsLeft: number; error: string | null };

async function endLease(tx: Tx, lease: Lease, left: Release): Promise<TaskEnd> {
  const row = await release.first(tx, { ...lease, ...left });
  if (!row) return 'stale';
  return row.dueAt === null ? 'failed' : 'again';
}

/** Removes a task that is done. One that was scheduled while it ran waits again. */
export const completeTask = defineWrite('tasks.complete', async (tx, lease: Lease): Promise<TaskEnd> => {
  if (await removeLeased.first(tx, lease)) return 'done';
  return endLease(tx, lease, { releaseAt: null, attemptsLeft: 0, error: null });
});

/** `attempts` is the number of runs without progress: as it is when it is missing, 0 after progress. */
type Retry = { lease: Lease; dueAt: number; attempts?: number };

/** Makes a leased task due at `dueAt`, or earlier when it was scheduled meanwhile. */
export const retryTask = defineWrite(
  'tasks.retry',
  (tx, { lease, dueAt, attempts = lease.attempts }: Retry): Promise<TaskEnd> =>
    endLease(tx, lease, { releaseAt: dueAt, attemptsLeft: attempts, error: null }),
);

/** Ends a leased task that cannot be run. It stays, and is shown in the metrics, until it is scheduled anew or canceled. */
export const failTask = defineWrite(
  'tasks.fail',
  (tx, { lease, error }: { lease: Lease; error: string }): Promise<TaskEnd> =>
    endLease(tx, lease, { releaseAt: null, attemptsLeft: lease.attempts, error }),
);

type LeaseDue = QueueKey & { now: number; runId: string; limit: number };

const leaseDue = statement((db, param: Param<LeaseDue>) =>
  db
    .updateTable('tasks')
    .set((set) => ({ dueAt: null, runId: param('runId'), attempts: set('attempts', '+', 1) }))
    .where('kind', '=', param('kind'))
    .where('reference', 'in', (where) =>
      where
        .selectFrom('tasks')
        .select('reference')
        .where('kind', '=', param('kind'))
        .where('queueKey', '=', param('queueKey'))
        .where(isWaiting)
        .where('dueAt', '<=', param('now'))
        .orderBy('dueAt')
        .limit(param('limit')),
    )
    .returning(['kind', 'reference', 'queueKey', 'tenantId', 'attempts']),
);

type LeaseTasks = Pick<LeaseDue, 'kind' | 'now' | 'runId'> & {
  claims: readonly (Pick<TaskRow, 'queueKey'> & { limit: number })[];
};

/** Leases due tasks of the named queues to a run, up to the limit of each, the longest due first, and counts the attempt. */
export const leaseTasks = defineWrite(
  'tasks.lease',
  async (tx, { claims, ...lease }: LeaseTasks): Promise<LeasedTask[]> => {
    const leased: LeasedTask[] = [];
    for (const claim of claims)
      for (const row of await leaseDue.all(tx, { ...lease, ...claim }))
        leased.push({ ...row, runId: lease.runId });
    return leased;
  },
  { crashPoints: { beforeCommit: 'task-lease-before-commit', afterCommit: 'task-lease-after-commit' } },
);

/** A queue with tasks that wait, and when the first of them is due. */
export type WaitingQueue = Pick<TaskRow, 'queueKey' | 'tenantId'> & { dueAt: number };

const firstOfQueue = statement((db, param: Param<QueueKey>) =>
  db
    .selectFrom('tasks')
    .select(['queueKey', 'tenantId', 'dueAt'])
    .$narrowType<{ dueAt: number }>()
    .where('kind', '=', param('kind'))
    .where('queueKey', '=', param('queueKey'))
    .where(isWaiting)
    .orderBy('dueAt')
    .limit(1),
);

/** Returns a queue; undefined when none of its tasks waits. */
export function findWaitingQueue(tx: Tx, queue: QueueKey): Promise<WaitingQueue | undefined> {
  return firstOfQueue.first(tx, queue);
}

type QueueSlice = { kind: string; after: string; limit: number };

/** Skips from queue to queue in the index, so that the cost does not depend on the number of tasks. */
const queuesAfter = statement((db, param: Param<QueueSlice>) => ({
  compile: () =>
    sql<WaitingQueue>`
      WITH RECURSIVE waiting ("queueKey") AS (
        SELECT min("queueKey") FROM tasks WHERE ${isWaiting} AND kind = ${param('kind')} AND "queueKey" > ${param('after')}
        UNION ALL
        SELECT (SELECT min(later."queueKey") FROM tasks AS later
                 WHERE ${isWaiting} AND later.kind = ${param('kind')} AND later."queueKey" > waiting."queueKey")
          FROM waiting WHERE waiting."queueKey" IS NOT NULL
         LIMIT ${param('limit')}
      )
      SELECT waiting."queueKey" AS "queueKey", first."tenantId" AS "tenantId", first."dueAt" AS "dueAt"
        FROM waiting JOIN tasks AS first ON first.kind = ${param('kind')} AND first.reference = (
             SELECT reference FROM tasks
              WHERE ${isWaiting} AND kind = ${param('kind')} AND "queueKey" = waiting."queueKey"
              ORDER BY "dueAt" LIMIT 1)
       ORDER BY waiting."queueKey"`.compile(db),
}));

/** Returns the next queues of a kind with tasks that wait, in the order of their names. */
export function listWaitingQueues(tx: Tx, slice: QueueSlice): Promise<WaitingQueue[]> {
  return queuesAfter.all(tx, slice);
}

const leasedOfKind = statement((db, param: Param<{ kind: string; limit: number }>) =>
  db
    .selectFrom('tasks')
    .select(['kind', 'reference', 'queueKey', 'tenantId', 'attempts', 'runId'])
    .$narrowType<{ runId: string }>()
    .where('kind', '=', param('kind'))
    .where(isLeased)
    // The bound makes SQLite prefer the index of leased tasks to the primary key.
    .where('runId', '>', '')
    .limit(param('limit')),
);

/** Returns tasks of a kind that are leased: before the first lease of a start, those that an earlier run has left. */
export function listLeased(tx: Tx, of: { kind: string; limit: number }): Promise<LeasedTask[]> {
  return leasedOfKind.all(tx, of);
}

/** Makes tasks due again whose run has ended with the daemon or with its thread. */
export const releaseTasks = defineWrite(
  'tasks.release',
  async (tx, { releases }: { releases: readonly { lease: Lease; dueAt: number }[] }): Promise<void> => {
    for (const release of releases) await retryTask.run(tx, release);
  },
);

/** Maximum number of rows that one write goes through, so that other writes wait only a short time. */
const MAX_ROWS = 1_000;

const endOfSlice = statement((db, param: Param<TaskKey>) =>
  db
    .selectFrom('tasks')
    .select(['kind', 'reference'])
    .where(sql<boolean>`(kind, reference) > (${constant(param('kind'))}, ${constant(param('reference'))})`)
    .orderBy('kind')
    .orderBy('reference')
    .limit(1)
    .offset(MAX_ROWS - 1),
);

type Slice = { fromKind: string; from: string; toKind: string; to: string };

const moveBack = statement((db, param: Param<SetBack & Slice>) =>
  db
    .updateTable('tasks')
    .set({ dueAt: sql`max(${param('now')}, "dueAt" - ${param('setBackMs')})` })
    .where('dueAt', '>', param('now'))
    .where(sql<boolean>`(kind, reference) > (${param('fromKind')}, ${param('from')})
      AND (kind, reference) <= (${param('toKind')}, ${param('to')})`),
);

/** A character that follows each one of a kind or of an id. */
const BEYOND = '\u{10ffff}';
/** Stands before all tasks. */
export const FIRST_TASK: TaskKey = { kind: '', reference: '' };

/** Moves the due times of a slice when the wall clock was set back. Returns the end of the slice, undefined at the last one. */
export const moveDueTasks = defineWrite(
  'tasks.moveDue',
  async (tx, { after, ...setBack }: SetBack & { after: TaskKey }): Promise<TaskKey | undefined> => {
    const end = await endOfSlice.first(tx, after);
    const { kind: toKind, reference: to } = end ?? { kind: BEYOND, reference: BEYOND };
    await moveBack.all(tx, { ...setBack, fromKind: after.kind, from: after.reference, toKind, to });
    return end;
  },
  { priority: 'bulk' },
);

/** @throws AppError not_found, also for a task that has not failed */
async function getFailedTask(tx: Tx, key: TaskKey): Promise<TaskRow> {
  const task = await findTask(tx, key);
  if (!task || task.error === null) throw notFound('Failed task');
  return task;
}

/**
 * Makes a failed task due again, with as many attempts as a new one, and returns whose it is.
 * @throws AppError not_found
 */
export const retryFailedTask = defineWrite(
  'tasks.retryFailed',
  async (tx, { dueAt, ...key }: TaskKey & { dueAt: number }): Promise<TaskOwner> => {
    const { kind, reference, queueKey, tenantId } = await getFailedTask(tx, key);
    await scheduleTask(tx, { kind, reference, queueKey, tenantId, dueAt });
    return { tenantId };
  },
);

/**
 * Removes a failed task, and returns whose it was.
 * @throws AppError not_found
 */
export const discardFailedTask = defineWrite(
  'tasks.discardFailed',
  async (tx, key: TaskKey): Promise<TaskOwner> => {
    const { tenantId, ...task } = await getFailedTask(tx, key);
    await cancelTask(tx, task);
    return { tenantId };
  },
);
