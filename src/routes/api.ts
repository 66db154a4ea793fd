/** `/v1/inbound/routes` (specification 4.11): routes decide which URL gets the mail to a tenant's domains. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { App } from '../app.ts';
import type { InboundRouteRow } from '../db/inbound-tables.ts';
import { readDomain, sandboxDomain } from '../domains/name.ts';
import { requireReach } from '../domains/reach.ts';
import { requireTenantAddress } from '../domains/receiving/requirements.ts';
import { requireChangeable } from '../domains/test-keys.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { findPostWaitingSince } from '../inbound/tasks/read-store.ts';
import { POST_TASKS } from '../inbound/tasks/store.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError, invalid } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { wakeTasks } from '../tasks/engine.ts';
import { callerOf, type Reach, reachOf } from '../tenants/authenticate.ts';
import { checkDestination } from '../webhooks/posting/destination.ts';
import { resultOf } from '../webhooks/posting/post.ts';
import { newSecret } from '../webhooks/posting/signature.ts';
import { type Lag, type TestResult, testResultSchema } from '../webhooks/schemas.ts';
import { type RouteAddress, readRouteAddress } from './address.ts';
import type { RouteCalls } from './post/part.ts';
import { sampleBody } from './post/sample.ts';
import {
  type NewRoute,
  newRouteSchema,
  routeChangeSchema,
  routeFilter,
  routeSchema,
  secretRouteSchema,
  showRoute,
} from './schemas.ts';
import {
  type Changer,
  changeRoute,
  deleteRoute,
  getRoute,
  IN_GOOD_STANDING,
  insertRoute,
  listRoutes,
  type RouteChange,
} from './store.ts';

type TestRoute = (reach: Reach, id: string) => Promise<TestResult>;

/** Maximum number of concurrent tests, shared among tenants: each may hold a connection for 15 seconds. */
const MAX_TESTS = 32;

type Shown = InboundRouteRow & Lag;
type NewRow = Shown & { secret: string };

const TAG = 'Inbound routes';
const refuses = ['restricted_api_key', 'domain_not_verified', 'domain_in_use', 'already_exists'] as const;

/** Registers the routes of the inbound routes resource. */
export function registerInboundRoutesApi(
  server: FastifyInstance,
  app: App & { routeCalls: RouteCalls },
): void {
  const show = (row: Shown) => showRoute(row, app.clock.now());
  const routes = resourceRoutes<Shown>(server, {
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
    async (request) => ({
      ...(await createRoute(app, changerOf(app, request), request.body)),
      waitingSince: null,
    }),
  );
  routes.list({ query: routeFilter }, async (request, wanted) => {
    const { address, domain } = request.query;
    const filter = {
      ...(address !== undefined && { address: readRouteAddress('address', address).address }),
      ...(domain !== undefined && { domain: readDomain('domain', domain) }),
    };
    const page = await listRoutes(app.db.read, reachOf(request), { ...filter, ...wanted });
    return { ...page, items: await Promise.all(page.items.map((row) => withLag(app, row))) };
  });
  routes.get({}, async (request) =>
    withLag(app, await getRoute(app.db.read, reachOf(request), request.params.id)),
  );
  routes.update({ body: routeChangeSchema, refuses }, async (request) => {
    const change = readChange(app, request.body);
    const by = changerOf(app, request);
    if (change.domain !== undefined) await requireOwnAddress(app, by, change.domain);
    const changed = { by, id: request.params.id, change, now: app.clock.now() };
    const row = await app.db.commit(changeRoute, changed);
    wakeTasks(app, POST_TASKS, [row.id]);
    return withLag(app, row);
  });
  routes.delete({ refuses: ['restricted_api_key'] }, (request) =>
    app.db.commit(deleteRoute, { by: changerOf(app, request), id: request.params.id }),
  );
  registerTest(server, createTestRoute(app, app.routeCalls));
}

async function withLag({ db }: Pick<App, 'db'>, row: InboundRouteRow): Promise<Shown> {
  return { ...row, waitingSince: await findPostWaitingSince(db.read, row.id) };
}

function changerOf({ config }: App, request: FastifyRequest): Changer {
  return { ...reachOf(request), mode: callerOf(request).mode, sandbox: sandboxDomain(config) };
}

/**
 * Checks that a key may have routes at a domain that a request names.
 * @throws AppError restricted_api_key
 */
async function requireOwnAddress({ db }: App, by: Changer, domain: string): Promise<void> {
  await requireReach(db.read, by, { domain, what: 'receive the mail of', param: 'address' });
  requireChangeable(by.mode, { domain, sandbox: by.sandbox, param: 'address' });
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
    async (request) => testRoute(reachOf(request), request.params.id),
  );
}

/**
 * Creates a route and returns it.
 * @throws AppError validation_error, restricted_api_key, domain_not_verified, domain_in_use, already_exists
 */
async function createRoute(
  app: App,
  by: Changer,
  { address, destination, enabled = true }: NewRoute,
): Promise<InboundRouteRow & { secret: string }> {
  checkDestination('destination', destination, app.config.webhooks);
  const place = readNewAddress(app, address);
  await requireOwnAddress(app, by, place.domain);
  const { tenantId } = by;
  const secret = newSecret();
  const now = app.clock.now();
  const id = newId('rt', now);
  const row: InboundRouteRow = {
    id,
    tenantId,
    destination,
    ...place,
    enabled: enabled ? 1 : 0,
    ...IN_GOOD_STANDING,
    ...(!enabled && { disabledReason: 'manual', disabledAt: now }),
    secretSealed: app.sealer.seal(secret, [tenantId, id]),
    createdAt: now,
    updatedAt: now,
  };
  await app.db.commit(insertRoute, { route: row, sandbox: by.sandbox });
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

/**
 * Returns the function that posts tests, one of a route at a time. A test is not stored and is never retried. Its
 * result, even a 410, does not change the route.
 */
function createTestRoute(app: Pick<App, 'db' | 'clock'>, { post }: RouteCalls): TestRoute {
  const underWay = new Set<string>();
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_TESTS, perFree: 1, maxWaiting: 0 });
  const run = async (route: InboundRouteRow): Promise<TestResult> => {
    const now = app.clock.now();
    const outcome = await post({ route, deliveryId: newId('tsk', now), body: sampleBody(route, now) });
    const { responseStatus, responseTimeMs, error } = resultOf(outcome);
    return { delivered: outcome.kind === 'delivered', responseStatus, responseTimeMs, error };
  };
  return async (reach, id) => {
    const route = await getRoute(app.db.read, reach, id);
    if (underWay.has(id)) throw tooSoon('A test of this route is still running; wait until it ends');
    const running = limiter.tryRun(() => run(route), { owner: reach.tenantId });
    if (running === undefined) throw tooSoon('Many tests of routes are running; wait until one of them ends');
    underWay.add(id);
    return running.finally(() => underWay.delete(id));
  };
}

function tooSoon(message: string): AppError {
  return new AppError('rate_limited', message, { retryAfterSeconds: 1 });
}
