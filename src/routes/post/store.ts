/** Reads what the posts to routes need. Nothing is written here. */
import { sql } from 'kysely';
import type { Tx } from '../../db/operation.ts';
import { statement } from '../../db/statement.ts';
import type { WaitingEndpoint } from '../../webhooks/posting/slots.ts';
import type { RouteId } from '../store.ts';

/** Skips from route to route in the index, so that the cost does not depend on the number of tasks. */
const waitingRoutes = statement((db) => ({
  compile: () =>
    sql<WaitingEndpoint<RouteId>>`
      WITH RECURSIVE waiting (queue) AS (
        SELECT min(queue) FROM receivedTasks WHERE state = 'pending' AND kind = 'post'
        UNION ALL
        SELECT (SELECT min(later.queue) FROM receivedTasks AS later
                 WHERE later.state = 'pending' AND later.kind = 'post' AND later.queue > waiting.queue)
          FROM waiting WHERE waiting.queue IS NOT NULL
      )
      SELECT waiting.queue AS "endpointId", route."tenantId" AS "tenantId",
             max((SELECT min(one."dueAt") FROM receivedTasks AS one
                   WHERE one.state = 'pending' AND one.kind = 'post' AND one.queue = waiting.queue),
                 coalesce(route."suspendedUntil", 0)) AS "dueAt",
             route."failingSince" IS NOT NULL AS failing
        FROM waiting LEFT JOIN "inboundRoutes" AS route ON route.id = waiting.queue
       WHERE waiting.queue IS NOT NULL
       ORDER BY "dueAt"`.compile(db),
}));

/** Returns true when there is a route, or a pending post to one that was deleted. */
export async function needsPosts(tx: Tx): Promise<boolean> {
  const route = await tx.selectFrom('inboundRoutes').select('id').limit(1).executeTakeFirst();
  return route !== undefined || (await listWaitingRoutes(tx)).length > 0;
}

/** Returns the routes with pending posts, the longest due first. */
export function listWaitingRoutes(tx: Tx): Promise<WaitingEndpoint<RouteId>[]> {
  return waitingRoutes.all(tx, {});
}
