/** Runs tasks of a received message again, of any kind and of any tenant, because the operator asks for it. */
import type { ReceivedMessageRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { findReceived } from '../../inbound/store.ts';
import { listTasksOf } from '../../inbound/tasks/read-store.ts';
import { chooseTasks, makeTasksDueAgain } from '../../routes/messages/replay.ts';
import { AppError, notFound } from '../../system/errors.ts';

type Replay = { id: ReceivedMessageRow['id']; taskId: string | undefined; now: number };

/**
 * Makes the named task of a message due now. Without one, it takes all tasks that have failed, or all posts when none has
 * failed. Returns the number of tasks.
 * @throws AppError not_found, invalid_state
 */
export const replayForOperator = defineWrite(
  'inbound.replayForOperator',
  async (tx, { id, taskId, now }: Replay): Promise<number> => {
    const message = await findReceived(tx, id);
    if (!message) throw notFound('Received message');
    return makeTasksDueAgain(tx, { message, tasks: choose(await listTasksOf(tx, id), taskId), now });
  },
);

function choose(tasks: readonly ReceivedTaskRow[], taskId: string | undefined): readonly ReceivedTaskRow[] {
  if (taskId === undefined) return chooseTasks(tasks);
  const task = tasks.find(({ id }) => id === taskId);
  if (!task) throw notFound('Task of the message');
  if (task.kind !== 'post' && task.state !== 'failed')
    throw new AppError('invalid_state', `The ${task.kind} has not failed; only posts are made again`);
  return [task];
}
