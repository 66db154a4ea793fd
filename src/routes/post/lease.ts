/** Leases due posts to routes, so that nothing else makes them at the same time. */
import type { InboundRouteRow } from '../../db/inbound-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { failWaitingTasks, type LeasedTask, leaseDue } from '../../inbound/tasks/store.ts';
import type { Claim } from '../../webhooks/posting/slots.ts';
import { findRouteById, type RouteId } from '../store.ts';

/** A leased post with its route. */
export type LeasedPost = { task: LeasedTask; endpoint: InboundRouteRow };

type Lease = {
  now: number;
  /** End of the lease in Unix milliseconds. An unsettled post is due again from then on. */
  until: number;
  runId: string;
  claims: readonly Claim<RouteId>[];
};

/** Error of posts that nothing can be posted for, in the log of posts. */
export const NO_ROUTE = { deleted: 'The route was deleted', disabled: 'The route is disabled' } as const;

/** Leases due posts of the named routes, up to the limit of each. */
export const leasePosts = defineWrite(
  'inbound.leasePosts',
  async (tx, { claims, ...lease }: Lease): Promise<LeasedPost[]> => {
    const leased: LeasedPost[] = [];
    for (const { endpointId: queue, limit } of claims) {
      const route = await findRouteById(tx, queue);
      if (route?.enabled !== 1) {
        const error = route ? NO_ROUTE.disabled : NO_ROUTE.deleted;
        await failWaitingTasks(tx, { kind: 'post', queue, error, now: lease.now });
        continue;
      }
      // The route may be suspended: a post that was in flight when the claims were made may have failed since.
      if (route.suspendedUntil !== null && route.suspendedUntil > lease.now) continue;
      for (const task of await leaseDue(tx, { ...lease, kind: 'post', queue, limit }))
        leased.push({ task, endpoint: route });
    }
    return leased;
  },
);
