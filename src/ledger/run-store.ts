/** Stores the runs of broadcasts: when, how fast and with what content each is sent. All SQL of this table is here. */
import { sql } from 'kysely';
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import { wakeAfterCommit } from '../db/commit-wakeups.ts';
import type { SetBack } from '../db/due-times.ts';
import type { BroadcastStatus } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';

type BroadcastId = BroadcastRunRow['broadcastId'];

/** Stores the run of a broadcast. A run that exists is replaced by it. */
export async function putRun(tx: Tx, run: BroadcastRunRow): Promise<void> {
  const { broadcastId: _, ...columns } = run;
  await tx
    .insertInto('broadcastRuns')
    .values(run)
    .onConflict((conflict) => conflict.column('broadcastId').doUpdateSet(columns))
    .execute();
}

/** The plan of a broadcast that has not started: when and how fast it is to be sent, and from which domain. */
export type RunPlan = Pick<
  BroadcastRunRow,
  'broadcastId' | 'tenantId' | 'mode' | 'scheduleAt' | 'pace' | 'domainId'
>;

/** Stores the plan of a broadcast that has not started. A scheduled one is due at its time, any other is not due. */
export async function putPlan(tx: Tx, plan: RunPlan): Promise<void> {
  await putRun(tx, {
    ...plan,
    dueAt: plan.scheduleAt,
    startedAt: null,
    endedAt: null,
    pausedReason: null,
    failure: null,
    nextCopyAt: null,
    contentId: null,
    frozen: null,
    walkUntil: null,
    walkAfter: null,
    walkedAt: null,
    passAfter: null,
    judgedFrom: null,
  });
}

/** Removes the run of a broadcast that was never started, if it has one. */
export async function deleteRun(tx: Tx, broadcastId: BroadcastId): Promise<void> {
  await tx.deleteFrom('broadcastRuns').where('broadcastId', '=', broadcastId).execute();
}

const runById = statement((db, param: Param<Pick<BroadcastRunRow, 'broadcastId'>>) =>
  db.selectFrom('broadcastRuns').selectAll().where('broadcastId', '=', param('broadcastId')),
);

/** Returns the run of a broadcast, or undefined when it was never scheduled or started. */
export function findRun(tx: Tx, broadcastId: BroadcastId): Promise<BroadcastRunRow | undefined> {
  return runById.first(tx, { broadcastId });
}

/**
 * Returns the run of a broadcast.
 * @throws Error when it has none, which is a bug of the caller
 */
export async function getRun(tx: Tx, broadcastId: BroadcastId): Promise<BroadcastRunRow> {
  const run = await findRun(tx, broadcastId);
  if (!run) throw new Error(`broadcast ${broadcastId} has no run`);
  return run;
}

/** Changes columns of a run. */
export async function patchRun(
  tx: Tx,
  broadcastId: BroadcastId,
  patch: Partial<Omit<BroadcastRunRow, 'broadcastId' | 'tenantId' | 'mode'>>,
): Promise<void> {
  await tx.updateTable('broadcastRuns').set(patch).where('broadcastId', '=', broadcastId).execute();
}

/** Makes the run of a broadcast due at a later time. */
export const deferRun = defineWrite(
  'broadcasts.defer',
  (tx, { broadcastId, until }: Pick<BroadcastRunRow, 'broadcastId'> & { until: number }) =>
    patchRun(tx, broadcastId, { dueAt: until }),
);

/** Makes the run of a broadcast due at a time, unless it is due already or has ended. */
export async function makeRunDue(tx: Tx, broadcastId: BroadcastId, dueAt: number): Promise<void> {
  const [changed] = await waitingRun.all(tx, { broadcastId, dueAt });
  if (changed) wakeAfterCommit('broadcasts');
}

const waitingRun = statement((db, param: Param<Pick<BroadcastRunRow, 'broadcastId'> & { dueAt: number }>) =>
  db
    .updateTable('broadcastRuns')
    .set({ dueAt: param('dueAt') })
    .where('broadcastId', '=', param('broadcastId'))
    .where('dueAt', 'is', null)
    .where('startedAt', 'is not', null)
    .where('endedAt', 'is', null)
    .where('pausedReason', 'is', null)
    .returning('broadcastId'),
);

/** The condition is literal, because SQLite uses the partial index `broadcastRunsDue` only when it can see it. */
const isDue = sql<boolean>`"dueAt" IS NOT NULL`;

/**
 * Makes the runs of started broadcasts due again when the wall clock was set back. Scheduled ones keep their time, which is a
 * time of the wall clock.
 */
export const moveDueRuns = defineWrite('broadcasts.moveDue', async (tx, { now }: SetBack) => {
  await tx
    .updateTable('broadcastRuns')
    .set({ dueAt: now })
    .where(isDue)
    .where('dueAt', '>', now)
    .where('startedAt', 'is not', null)
    .execute();
});

/** A run with work that is due. */
export type DueRun = Pick<BroadcastRunRow, 'broadcastId' | 'tenantId'> & {
  status: BroadcastStatus;
  dueAt: number;
};

/** Maximum number of due runs that one read returns. */
const MAX_DUE = 1_000;

const dueRuns = statement((db, param: Param<{ now: number }>) =>
  db
    .selectFrom('broadcastRuns')
    .innerJoin('broadcasts', 'broadcasts.id', 'broadcastRuns.broadcastId')
    .select(['broadcastRuns.broadcastId', 'broadcastRuns.tenantId'])
    .select('broadcasts.status')
    .select(sql<number>`"dueAt"`.as('dueAt'))
    .where(isDue)
    .where('dueAt', '<=', constant(param('now')))
    .orderBy('dueAt')
    .limit(sql.lit(MAX_DUE)),
);

/** The due runs of all tenants round-robin: the first of each, then the second of each. It reads them all, so it is rarely used. */
const dueRunsByTurns = statement((db, param: Param<{ now: number }>) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('broadcastRuns')
        .select(['broadcastId', 'tenantId'])
        .select(sql<number>`"dueAt"`.as('dueAt'))
        .select(sql<number>`row_number() OVER (PARTITION BY "tenantId" ORDER BY "dueAt")`.as('turn'))
        .where(isDue)
        .where('dueAt', '<=', constant(param('now')))
        .as('due'),
    )
    .innerJoin('broadcasts', 'broadcasts.id', 'due.broadcastId')
    .select(['due.broadcastId', 'due.tenantId', 'due.dueAt'])
    .select('broadcasts.status')
    .orderBy('turn')
    .orderBy('due.dueAt')
    .limit(sql.lit(MAX_DUE)),
);

/**
 * Returns the runs whose work is due. When there are too many, every tenant has its share of them: a run is due for as long as
 * its broadcast is sent, which may be months.
 */
export async function listDueRuns(tx: Tx, now: number): Promise<DueRun[]> {
  const due = await dueRuns.all(tx, { now });
  return due.length < MAX_DUE ? due : dueRunsByTurns.all(tx, { now });
}

const nextDue = statement((db, param: Param<{ now: number }>) =>
  db
    .selectFrom('broadcastRuns')
    .select('dueAt')
    .where(isDue)
    .where('dueAt', '>', constant(param('now')))
    .orderBy('dueAt')
    .limit(sql.lit(1)),
);

/** Returns the earliest due time after `now`, in Unix milliseconds, or undefined when there is none. */
export async function findNextDueRun(tx: Tx, now: number): Promise<number | undefined> {
  return (await nextDue.first(tx, { now }))?.dueAt ?? undefined;
}
