/** The operations of a server by their ids, with the options of their routes, so that another API can be served by the same routes. */
import type { FastifyInstance, RouteOptions } from 'fastify';

/** Options of routes, as they were registered, by the `operationId` of their schema. */
export type Operations = ReadonlyMap<string, RouteOptions>;

/** Returns the operations that are registered on `scope` afterwards. */
export function collectOperations(scope: FastifyInstance): Operations {
  const operations = new Map<string, RouteOptions>();
  scope.addHook('onRoute', (route) => {
    const id = route.schema?.operationId;
    if (id !== undefined && route.method !== 'HEAD') operations.set(id, route);
  });
  return operations;
}
