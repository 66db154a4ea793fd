/** Stores the runs of broadcasts: when, how fast and with what content each is sent. All SQL of this table is here. */

import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findRow } from '../db/rows.ts';
import { cancelTask, type NewTask, scheduleNewTask, scheduleTask } from '../tasks/store.ts';

type BroadcastId = BroadcastRunRow['broadcastId'];

/** Kind of the tasks that are steps of runs. The reference of a task is the broadcast. */
export const BROADCAST_TASKS = 'broadcasts';

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

/** Stores the plan of a broadcast that has not started. The run of a scheduled one is due at its time. */
export async function putPlan(tx: Tx, plan: RunPlan): Promise<void> {
  await putRun(tx, {
    ...plan,
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
  const { broadcastId, scheduleAt } = plan;
  if (scheduleAt === null) await clearRunDue(tx, broadcastId);
  else await makeRunDue(tx, plan, scheduleAt);
}

/** Removes the run of a broadcast that was never started, if it has one. */
export async function deleteRun(tx: Tx, broadcastId: BroadcastId): Promise<void> {
  await tx.deleteFrom('broadcastRuns').where('broadcastId', '=', broadcastId).execute();
  await clearRunDue(tx, broadcastId);
}

/** Makes the run of a broadcast due no more. */
export async function clearRunDue(tx: Tx, broadcastId: BroadcastId): Promise<void> {
  await cancelTask(tx, { kind: BROADCAST_TASKS, reference: broadcastId });
}

/** Returns the run of a broadcast, or undefined when it was never scheduled or started. */
export function findRun(tx: Tx, broadcastId: BroadcastId): Promise<BroadcastRunRow | undefined> {
  return findRow(tx, 'broadcastRuns', { broadcastId });
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

/** Makes the run of a broadcast due at a time, whatever it waits for. */
export function makeRunDue(tx: Tx, run: Run, dueAt: number): Promise<void> {
  return scheduleTask(tx, taskOf(run, dueAt));
}

/** Makes the run of a broadcast due at a time, unless it is due at another one. */
export function makeIdleRunDue(tx: Tx, run: Run, dueAt: number): Promise<void> {
  return scheduleNewTask(tx, taskOf(run, dueAt));
}

type Run = Pick<BroadcastRunRow, 'broadcastId' | 'tenantId'>;

/** The runs of a tenant share a queue, in which each step stands behind those of the other runs. */
function taskOf({ broadcastId, tenantId }: Run, dueAt: number): NewTask {
  return { kind: BROADCAST_TASKS, reference: broadcastId, queueKey: tenantId, tenantId, dueAt };
}
