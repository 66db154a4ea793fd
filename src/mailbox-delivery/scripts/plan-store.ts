/** Stores the plans of deliveries. All SQL of this table is here, and nothing else writes it. */

import type { App } from '../../app.ts';
import type { DeliveryPlanRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { deleteRows, findColumns, insertRowOnce } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';
import { type Plan, packPlan, unpackPlan } from './plan.ts';

type TaskId = DeliveryPlanRow['taskId'];

/** Returns the plan that an earlier run of the task has stored; undefined when there is none. */
export async function findPlan(tx: Tx, taskId: TaskId): Promise<Plan | undefined> {
  const row = await findColumns(tx, 'deliveryPlans', { select: ['plan'], where: { taskId } });
  return row && unpackPlan(row.plan);
}

/** Stores the text of a plan, unless the task has one, and returns the text that is stored. */
const storePackedPlan = defineWrite(
  'inbound.storePlan',
  async (tx, row: DeliveryPlanRow): Promise<string> => {
    await insertRowOnce(tx, 'deliveryPlans', row);
    return (
      (await findColumns(tx, 'deliveryPlans', { select: ['plan'], where: { taskId: row.taskId } }))?.plan ??
      row.plan
    );
  },
  { crashPoints: { beforeCommit: 'script-plan-before-commit', afterCommit: 'script-plan-after-commit' } },
);

/** Stores the plan of a task, unless it has one. Returns the one that is stored, which no later run of the scripts changes. */
export async function storePlan({ db }: Pick<App, 'db'>, taskId: TaskId, plan: Plan): Promise<Plan> {
  return unpackPlan(await db.commit(storePackedPlan, { taskId, plan: packPlan(plan) }));
}

/** Deletes the plan of a task whose mailbox was deleted, if there is one. */
export const dropPlan = defineWrite(
  'inbound.dropPlan',
  (tx, { taskId }: { taskId: TaskId }): Promise<void> => deletePlan(tx, taskId),
);

const removeOfMessage = statement((db, param: Param<Pick<ReceivedTaskRow, 'messageId'>>) =>
  db
    .deleteFrom('deliveryPlans')
    .where('taskId', 'in', (where) =>
      where.selectFrom('receivedTasks').select('id').where('messageId', '=', param('messageId')),
    ),
);

/** Deletes the plans of deliveries that were given up, as part of the write that deletes the tasks of their message. */
export async function deletePlansOf(tx: Tx, messageId: ReceivedTaskRow['messageId']): Promise<void> {
  await removeOfMessage.all(tx, { messageId });
}

/** Deletes the plan of a task, as part of the write that ends the task. */
export async function deletePlan(tx: Tx, taskId: TaskId): Promise<void> {
  await deleteRows(tx, 'deliveryPlans', { taskId });
}
