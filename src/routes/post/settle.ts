/**
 * Settles a post to a route: one transaction stores the task's new state and its effect on the route. A route that has
 * failed for days is disabled, and one whose receiver answers 410 is disabled at once.
 */
import type { InboundRouteRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import {
  countFailingTasks,
  failWaitingTasks,
  type Settlement,
  settleLeased,
  type TaskResult,
} from '../../inbound/tasks/store.ts';
import { firstIdAt } from '../../system/ids.ts';
import { MAX_ATTEMPTS } from '../../webhooks/posting/schedule.ts';
import { failedAgain, hasFailedTooLong } from '../../webhooks/posting/suspension.ts';
import { disableRoute, findRouteById, noteRouteFailing, noteRouteSuccess } from '../store.ts';
import { NO_ROUTE } from './lease.ts';

export type PostSettlement = Settlement & {
  /** The route that was posted to. */
  routeId: InboundRouteRow['id'];
  /** URL of the post. The route may have another one by now. */
  destination: string;
  /** The receiver took the message, refused it, or wants no more posts; `none`: nothing was posted. */
  answer: 'taken' | 'refused' | 'gone' | 'none';
};

/** Effect of a post on its route. `stale` means that the lease was no longer valid and nothing changed. */
export type RouteEffect = 'stale' | 'none' | 'warned' | 'disabled' | 'gone';

/** Settles a post and returns its effect on the route. */
export const settlePost = defineWrite(
  'inbound.settlePost',
  async (tx, settlement: PostSettlement): Promise<RouteEffect> => {
    const { routeId, now, answer } = settlement;
    if (answer === 'taken' || answer === 'none') {
      if (!(await settleLeased(tx, settlement))) return 'stale';
      if (answer === 'taken') await noteRouteSuccess(tx, routeId);
      return 'none';
    }
    const route = await findRouteById(tx, routeId);
    const hasMoved = route !== undefined && route.destination !== settlement.destination;
    const ended = hasMoved ? { ...settlement, ...nextReceiver(settlement) } : settlement;
    if (!(await settleLeased(tx, ended))) return 'stale';
    if (route?.enabled !== 1) {
      await endWaiting(tx, { queue: routeId, error: route ? NO_ROUTE.disabled : NO_ROUTE.deleted, now });
      return 'none';
    }
    if (hasMoved) return 'none';
    return answer === 'gone'
      ? disable(tx, { id: routeId, reason: 'gone', now })
      : settleFailure(tx, route, now);
  },
);

/** Makes a post due for the new destination of its route, because the refusal came from the previous one. */
function nextReceiver({ attempts, now }: PostSettlement): Partial<TaskResult> {
  return attempts < MAX_ATTEMPTS ? { state: 'pending', dueAt: now } : {};
}

function endWaiting(tx: Tx, ending: { queue: string; error: string; now: number }): Promise<void> {
  return failWaitingTasks(tx, { kind: 'post', ...ending });
}

async function disable(
  tx: Tx,
  disabling: { id: InboundRouteRow['id']; reason: 'failures' | 'gone'; now: number },
): Promise<RouteEffect> {
  const { id, reason, now } = disabling;
  await disableRoute(tx, disabling);
  await endWaiting(tx, { queue: id, error: NO_ROUTE.disabled, now });
  return reason === 'gone' ? 'gone' : 'disabled';
}

async function settleFailure(tx: Tx, route: InboundRouteRow, now: number): Promise<RouteEffect> {
  const { failing, warns } = failedAgain(route, now);
  const isHopeless = await hasFailedTooLong(failing, now, ({ after, before, limit }) =>
    countFailingTasks(tx, {
      queue: route.id,
      after: firstIdAt('tsk', after),
      before: firstIdAt('tsk', before),
      limit,
    }),
  );
  if (isHopeless) return disable(tx, { id: route.id, reason: 'failures', now });
  await noteRouteFailing(tx, { id: route.id, ...failing });
  return warns ? 'warned' : 'none';
}
