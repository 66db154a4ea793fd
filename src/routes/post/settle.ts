/** Settles the posts to routes (webhooks/posting/settle.ts). */
import type { InboundRouteRow } from '../../db/inbound-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { countFailingTasks } from '../../inbound/tasks/read-store.ts';
import { failWaitingPosts, recordTask, type TaskId } from '../../inbound/tasks/store.ts';
import { firstIdAt } from '../../system/ids.ts';
import { defineSettle, type Endpoint, type PostTarget } from '../../webhooks/posting/settle.ts';
import { disableRoute, findRouteById, noteRouteFailing, noteRouteSuccess, type RouteId } from '../store.ts';

/** States and errors of posts that wait for a route which gets no more of them. */
export const CLOSED = {
  disabled: { state: 'failed', error: 'The route is disabled' },
  deleted: { state: 'failed', error: 'The route was deleted' },
} as const;

/** Returns a route as posts see it. */
export async function findReceiver(tx: Tx, id: string): Promise<(InboundRouteRow & Endpoint) | undefined> {
  const route = await findRouteById(tx, id as RouteId);
  return route && { ...route, url: route.destination, isEnabled: route.enabled === 1 };
}

type End = { id: string; why: keyof typeof CLOSED; now: number };

function endWaiting(tx: Tx, { id: queue, why, now }: End): Promise<void> {
  return failWaitingPosts(tx, { queue, error: CLOSED[why].error, now });
}

const target: PostTarget = {
  find: findReceiver,
  endWaiting,
  record: (tx, { reference, state, ...post }) =>
    recordTask(tx, {
      ...post,
      id: reference as TaskId,
      state: state === 'delivered' ? 'done' : state === 'skipped' ? 'failed' : state,
    }),
  noteSuccess: (tx, id) => noteRouteSuccess(tx, id as RouteId),
  noteFailing: (tx, failure) => noteRouteFailing(tx, { ...failure, id: failure.id as RouteId }),
  async disable(tx, { id, reason, now }) {
    await disableRoute(tx, { id: id as RouteId, reason, now });
    await endWaiting(tx, { id, why: 'disabled', now });
  },
  countFailing: (tx, queue, { after, before, limit }) =>
    countFailingTasks(tx, {
      queue,
      limit,
      after: firstIdAt('tsk', after),
      before: firstIdAt('tsk', before),
    }),
};

/** Settles posts, and returns the effect of each on its route. */
export const settlePost = defineSettle('inbound.settlePost', target);
