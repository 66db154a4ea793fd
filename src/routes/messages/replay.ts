/** Makes tasks of a received message due again, such as its posts to routes. */
import type { ReceivedMessageRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { reopenReceived } from '../../inbound/store.ts';
import { makeTaskDueAgain } from '../../inbound/tasks/store.ts';
import { AppError } from '../../system/errors.ts';
import type { Reach } from '../../tenants/authenticate.ts';
import { findRouteById, type RouteId } from '../store.ts';
import { getReceived, listSeenPosts } from './store.ts';

type Replay = { reach: Reach; id: string; now: number };

/**
 * Makes the failed posts of a message that the caller sees due now, or all of them when none has failed, with as many attempts as new ones.
 * @throws AppError not_found, invalid_state
 */
export const replayReceived = defineWrite(
  'inbound.replayMessage',
  async (tx, { reach, id, now }: Replay): Promise<void> => {
    const message = await getReceived(tx, reach, id);
    const posts = await listSeenPosts(tx, reach, message.id);
    if (posts.some(isRunning)) throw runs();
    await makeTasksDueAgain(tx, { message, tasks: chooseTasks(posts), now });
  },
);

/** Returns the tasks that have failed, or the posts when none has failed. */
export function chooseTasks(tasks: readonly ReceivedTaskRow[]): readonly ReceivedTaskRow[] {
  const failed = tasks.filter(({ state }) => state === 'failed');
  return failed.length > 0 ? failed : tasks.filter(({ kind }) => kind === 'post');
}

type Again = {
  message: Pick<ReceivedMessageRow, 'id' | 'blobId'>;
  tasks: readonly ReceivedTaskRow[];
  now: number;
};

/**
 * Makes tasks of a message due now, with as many attempts as new ones, except posts to routes that are not enabled. Returns
 * the number of tasks.
 * @throws AppError invalid_state when none is left, one of them runs, or the bytes of the message are no longer kept
 */
export async function makeTasksDueAgain(tx: Tx, { message, tasks, now }: Again): Promise<number> {
  if (message.blobId === null) throw invalidState('The content of the message is no longer kept');
  if (tasks.length === 0) throw invalidState('Nothing is left to do with the message');
  if (tasks.some(isRunning)) throw runs();
  let count = 0;
  for (const { id, kind, targetId } of tasks) {
    if (kind === 'post' && !(await isEnabled(tx, targetId as RouteId))) continue;
    await makeTaskDueAgain(tx, id, now);
    count += 1;
  }
  if (count === 0) throw invalidState('No route of the message is enabled; enable one first');
  await reopenReceived(tx, message.id);
  return count;
}

async function isEnabled(tx: Tx, id: RouteId): Promise<boolean> {
  return (await findRouteById(tx, id))?.enabled === 1;
}

function isRunning({ runId }: ReceivedTaskRow): boolean {
  return runId !== null;
}

function runs(): AppError {
  return invalidState('A task of the message is running; wait for its end');
}

function invalidState(message: string): AppError {
  return new AppError('invalid_state', message);
}
