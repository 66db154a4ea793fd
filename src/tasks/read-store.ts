/** Reads what operators see of tasks: how many wait and since when, and which have failed. */
import { sql } from 'kysely';
import { defineRead, type Tx } from '../db/operation.ts';
import type { TaskRow } from '../db/own-tables.ts';
import { type Param, statement } from '../db/statement.ts';
import { isWaiting, type TaskKey } from './store.ts';

/** The condition is literal, because SQLite uses a partial index only when it can see the index's condition. */
const hasFailed = sql<boolean>`error IS NOT NULL`;

/** Maximum number of tasks of a kind that are counted, which occupies a reader thread for about 30 ms. */
export const MAX_COUNTED_TASKS = 20_000;

/** Numbers of tasks of a kind, each up to the maximum. `dueAt` is when the first of those that were counted is due. */
export type KindLoad = { kind: string; waiting: number; dueAt: number | null; failed: number };

/** Returns the numbers of tasks of each kind that has some. It skips from kind to kind in the index. */
export const countTasks = defineRead('tasks.count', async (tx, _input: undefined): Promise<KindLoad[]> => {
  const limit = sql.lit(MAX_COUNTED_TASKS);
  // The order makes SQLite use the index of tasks that wait.
  const counted = sql`(SELECT "dueAt" FROM tasks WHERE ${isWaiting} AND tasks.kind = kinds.kind
      ORDER BY "queueKey", "dueAt" LIMIT ${limit}) AS counted`;
  const { rows: loads } = await sql<Omit<KindLoad, 'failed'>>`
      WITH RECURSIVE kinds (kind) AS (
        SELECT min(kind) FROM tasks WHERE ${isWaiting}
        UNION ALL
        SELECT (SELECT min(later.kind) FROM tasks AS later WHERE ${isWaiting} AND later.kind > kinds.kind)
          FROM kinds WHERE kinds.kind IS NOT NULL
      )
      SELECT kinds.kind AS kind, (SELECT count(*) FROM ${counted}) AS waiting,
             (SELECT min("dueAt") FROM ${counted}) AS "dueAt"
        FROM kinds WHERE kinds.kind IS NOT NULL`.execute(tx);
  const { rows: failures } = await sql<Pick<KindLoad, 'kind' | 'failed'>>`
      SELECT kind, count(*) AS failed
        FROM (SELECT kind FROM tasks WHERE ${hasFailed} LIMIT ${limit}) AS counted GROUP BY kind`.execute(tx);
  const none = failures.map(({ kind }) => ({ kind, waiting: 0, dueAt: null }));
  const all = new Map([...none, ...loads].map((load) => [load.kind, load]));
  const failedOf = new Map(failures.map(({ kind, failed }) => [kind, failed]));
  return [...all.values()].map((load) => ({ ...load, failed: failedOf.get(load.kind) ?? 0 }));
});

/** A task that has failed, and why. */
export type FailedTask = Pick<TaskRow, 'kind' | 'reference' | 'queueKey' | 'tenantId' | 'attempts'> & {
  error: string;
};

type FailedPage = TaskKey & { limit: number };

const failedTasks = statement((db, param: Param<FailedPage>) =>
  db
    .selectFrom('tasks')
    .select(['kind', 'reference', 'queueKey', 'tenantId', 'attempts', 'error'])
    .$narrowType<{ error: string }>()
    .where(hasFailed)
    .where(sql<boolean>`(kind, reference) > (${param('kind')}, ${param('reference')})`)
    .orderBy('kind')
    .orderBy('reference')
    .limit(param('limit')),
);

/** Returns tasks that have failed, in the order of their kinds and references, behind one of them. */
export function listFailedTasks(tx: Tx, page: FailedPage): Promise<FailedTask[]> {
  return failedTasks.all(tx, page);
}
