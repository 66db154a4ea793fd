/** Posts a received message again to its routes. */
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { AppError } from '../../system/errors.ts';
import { findRouteById, type RouteId } from '../routes/store.ts';
import { reopenReceived } from '../store.ts';
import { listTasksOf, makeTaskDueAgain } from '../tasks/store.ts';
import { getReceived } from './store.ts';

type Replay = { tenantId: NonNullable<ReceivedMessageRow['tenantId']>; id: string; now: number };

/**
 * Makes the failed posts of a message due now, or all of them when none has failed, with as many attempts as new ones.
 * @throws AppError not_found, invalid_state
 */
export const replayReceived = defineWrite(
  'inbound.replayMessage',
  async (tx, { tenantId, id, now }: Replay): Promise<void> => {
    const message = await getReceived(tx, tenantId, id);
    if (message.blobId === null) throw invalidState('The content of the message is no longer kept');
    const posts = await listTasksOf(tx, { messageId: message.id, kind: 'post' });
    if (posts.some(({ runId }) => runId !== null))
      throw invalidState('The message is being posted; wait for the end of that');
    const failed = posts.filter(({ state }) => state === 'failed');
    let count = 0;
    for (const post of failed.length > 0 ? failed : posts) {
      const route = await findRouteById(tx, post.targetId as RouteId);
      if (route?.enabled !== 1) continue;
      await makeTaskDueAgain(tx, post.id, now);
      count += 1;
    }
    if (count === 0) throw invalidState('No route of the message is enabled; enable one first');
    await reopenReceived(tx, message.id);
  },
);

function invalidState(message: string): AppError {
  return new AppError('invalid_state', message);
}
