/** `/v1/inbound/routes` (specification 4.11): routes decide which URL gets the mail to a tenant's domains. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { App } from '../../app.ts';
import type { InboundRouteRow } from '../../db/inbound-tables.ts';
import { readDomain, sandboxDomain } from '../../domains/name.ts';
import { requireTenantAddress } from '../../domains/receiving/requirements.ts';
import { paramsOf, resourceRoutes } from '../../http/json/resource.ts';
import { invalid } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { checkDestination } from '../../webhooks/posting/destination.ts';
import { newSecret } from '../../webhooks/posting/signature.ts';
import { testResultSchema } from '../../webhooks/schemas.ts';
import type { RouteCalls } from '../post/part.ts';
import { type RouteAddress, readRouteAddress } from './address.ts';
import {
  type NewRoute,
  newRouteSchema,
  routeChangeSchema,
  routeFilter,
  routeSchema,
  secretRouteSchema,
  showRoute,
} from './schemas.ts';
import { createTestRoute, type TestRoute } from './send-test.ts';
import {
  changeRoute,
  deleteRoute,
  getRoute,
  IN_GOOD_STANDING,
  insertRoute,
  listRoutes,
  type RouteChange,
} from './store.ts';

type RoutesApp = Pick<App, 'db' | 'clock' | 'config' | 'sealer'>;
type NewRow = InboundRouteRow & { secret: string };

const TAG = 'Inbound routes';
const refuses = ['domain_not_verified', 'domain_in_use', 'already_exists'] as const;

/** Registers the routes of the inbound routes resource. */
export function registerInboundRoutesApi(server: FastifyInstance, app: RoutesApp, calls: RouteCalls): void {
  const show = (row: InboundRouteRow) => showRoute(row, app.clock.now());
  const routes = resourceRoutes<InboundRouteRow>(server, {
    name: 'inbound route',
    tag: TAG,
    path: '/inbound/routes',
    prefix: 'rt',
    schema: routeSchema,
    show,
  });
  routes.create(
    {
      body: newRouteSchema,
      answer: {
        schema: secretRouteSchema,
        show: (row: NewRow) => ({ ...show(row), secret: row.secret }),
      },
      description: 'The response contains the `secret` that signs every post. It is not shown again.',
      refuses,
    },
    (request) => createRoute(app, callerOf(request).tenantId, request.body),
  );
  routes.list({ query: routeFilter }, (request, page) => {
    const { address, domain } = request.query;
    const filter = {
      ...(address !== undefined && { address: readRouteAddress('address', address).address }),
      ...(domain !== undefined && { domain: readDomain('domain', domain) }),
    };
    return listRoutes(app.db.read, callerOf(request).tenantId, { ...filter, ...page });
  });
  routes.get({}, (request) => getRoute(app.db.read, callerOf(request).tenantId, request.params.id));
  routes.update({ body: routeChangeSchema, refuses }, (request) => {
    const change = readChange(app, request.body);
    const { id } = request.params;
    const { tenantId } = callerOf(request);
    const moment = { sandbox: sandboxDomain(app.config), now: app.clock.now() };
    return app.db.commit(changeRoute, { tenantId, id, change, ...moment });
  });
  routes.delete({}, (request) =>
    app.db.commit(deleteRoute, { tenantId: callerOf(request).tenantId, id: request.params.id }),
  );
  registerTest(server, createTestRoute(app, calls));
}

function registerTest(server: FastifyInstance, testRoute: TestRoute): void {
  const path = '/inbound/routes/:id/test';
  server.post<{ Params: { id: string } }>(
    path,
    {
      config: { bodyOptional: true, worksOnLowDisk: true },
      schema: {
        operationId: 'testInboundRoute',
        summary: 'Post a sample message to an inbound route',
        description:
          'The response is sent once the receiver has answered, or after 15 s. The sample contains `"test": true`. It is posted once, also for a disabled route.',
        tags: [TAG],
        ...paramsOf(path),
        response: { 200: testResultSchema },
      },
    },
    async (request) => testRoute(callerOf(request).tenantId, request.params.id),
  );
}

/**
 * Creates a route and returns it.
 * @throws AppError validation_error, domain_not_verified, domain_in_use, already_exists
 */
async function createRoute(
  app: RoutesApp,
  tenantId: InboundRouteRow['tenantId'],
  { address, destination, enabled = true }: NewRoute,
): Promise<NewRow> {
  checkDestination('destination', destination, app.config.webhooks);
  const secret = newSecret();
  const now = app.clock.now();
  const id = newId('rt', now);
  const row: InboundRouteRow = {
    id,
    tenantId,
    destination,
    ...readNewAddress(app, address),
    enabled: enabled ? 1 : 0,
    ...IN_GOOD_STANDING,
    ...(!enabled && { disabledReason: 'manual', disabledAt: now }),
    secretSealed: app.sealer.seal(secret, [tenantId, id]),
    createdAt: now,
    updatedAt: now,
  };
  await app.db.commit(insertRoute, { route: row, sandbox: sandboxDomain(app.config) });
  return { ...row, secret };
}

/**
 * Returns the address of a route that this installation accepts.
 * @throws AppError validation_error; domain_not_verified for the simulator, which takes no mail from outside
 */
function readNewAddress({ config }: Pick<App, 'config'>, text: string): RouteAddress {
  const read = readRouteAddress('address', text);
  if (read.address === `*@${sandboxDomain(config)}`) {
    throw invalid(
      'address',
      `\`address\`: all accounts share ${read.domain}, so a route there names one address, such as my-test@${read.domain}`,
    );
  }
  requireTenantAddress(config, read);
  return read;
}

/**
 * Returns the changes that a request asks for.
 * @throws AppError validation_error, domain_not_verified
 */
function readChange(app: Pick<App, 'config'>, wanted: Static<typeof routeChangeSchema>): RouteChange {
  // The schema ignores unknown fields, but a request with this field expects the secret to change.
  if (Object.hasOwn(wanted, 'secret')) {
    throw invalid('secret', '`secret` cannot be changed; delete the route and create it anew');
  }
  const { address, destination, enabled } = wanted;
  if (destination !== undefined) checkDestination('destination', destination, app.config.webhooks);
  return {
    ...(address !== undefined && readNewAddress(app, address)),
    ...(destination !== undefined && { destination }),
    ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
  };
}
