/** Registers the operator's routes for the routes of outgoing mail. They are served on the control socket alone: tenants set none. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { routeName } from '../config/outbound.ts';
import { type Continuation, pageOfFound } from '../db/continued.ts';
import { continuedQuery, DEFAULT_ITEMS } from '../db/continued-query.ts';
import { AppError } from '../system/errors.ts';
import { type NewRoute, newRouteSchema, type ShownRoute, showRoute } from './admin-schemas.ts';
import { checkRelay } from './check-relay.ts';
import { getOutboundRoute, listOutboundRoutes } from './find.ts';
import { probePort25 } from './port-probe.ts';
import { removeOutboundRoute, saveOutboundRoute } from './save.ts';

const named = Type.Object({ name: routeName });
type Named = Static<typeof named>;

/** `name` selects the routes whose name contains it. */
const listQuery = Type.Object({ ...continuedQuery, name: Type.Optional(Type.String()) });

/** A page of routes as the control socket answers with it. */
export type ShownRoutes = Continuation & { routes: ShownRoute[] };

/** Registers `/outbound-routes` and `POST /port-probe` on the server of the control socket. */
export function registerOutboundRoutes(server: FastifyInstance, app: App): void {
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/outbound-routes',
    { schema: { querystring: listQuery } },
    async ({ query: { name = '', after = '', limit = DEFAULT_ITEMS } }): Promise<ShownRoutes> => {
      const found = await listOutboundRoutes(app, { name: name.toLowerCase(), after, limit: limit + 1 });
      const { items, ...continuation } = pageOfFound(found, limit, (route) => route.name);
      return { ...continuation, routes: items.map(showRoute) };
    },
  );
  server.put<{ Params: Named; Body: NewRoute }>(
    '/outbound-routes/:name',
    { schema: { params: named, body: newRouteSchema } },
    async ({ params: { name }, body }) => {
      await saveOutboundRoute(app, name, body);
      return showRoute(await getOutboundRoute(app, name));
    },
  );
  server.delete<{ Params: Named }>(
    '/outbound-routes/:name',
    { schema: { params: named } },
    async ({ params: { name } }) => {
      const { tenantId } = await removeOutboundRoute(app, name);
      return { name, removed: true, tenantId };
    },
  );
  server.post<{ Params: Named }>(
    '/outbound-routes/:name/check',
    { schema: { params: named } },
    async ({ params: { name } }) => {
      const { relay } = await getOutboundRoute(app, name);
      if (!relay)
        throw new AppError('invalid_state', `The route "${name}" has no relay: its mail goes to MX hosts`);
      return { name, hosts: await checkRelay(app, relay) };
    },
  );
  server.post('/port-probe', () => probePort25(app));
}
