/** Records the requests to the API, and serves `GET /v1/request-log`. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { RequestLogRow } from '../db/api-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { callerOf, findPlannedCaller } from '../tenants/authenticate.ts';
import { createDescription } from './entry.ts';
import { RequestRecorder } from './recorder.ts';
import { ABOUT_LOG, readRequestFilter, requestFilter, requestSchema, showRequest } from './schemas.ts';
import { listRequests } from './store.ts';

const PATH = '/request-log';

/**
 * Records the requests to all routes of `server` that have a valid key, whichever are registered first, and registers the list. Reads of
 * the list are not recorded: whoever watches it would fill it.
 */
export function registerRequestLog(server: FastifyInstance, app: App): void {
  const recorder = new RequestRecorder(app);
  const describe = createDescription(app.config);
  const ownRoute = `${server.prefix}${PATH}`;
  server.addHook('onResponse', (request, reply, done) => {
    const caller = findPlannedCaller(request)?.caller;
    // Requests of the dashboard, behind which a person stands, are in the audit log when they change something.
    if (caller && caller.keyId !== null && request.routeOptions.url !== ownRoute)
      recorder.record(describe({ ...caller, keyId: caller.keyId }, request, reply));
    done();
  });
  server.addHook('onClose', () => recorder.flush());
  const requests = resourceRoutes<RequestLogRow>(server, {
    name: 'request',
    tag: 'Request log',
    path: PATH,
    prefix: 'req',
    schema: requestSchema,
    show: showRequest,
  });
  requests.list({ description: ABOUT_LOG, query: requestFilter }, async (request, page) => {
    const { tenantId, mode } = callerOf(request);
    const filter = readRequestFilter(request.query);
    await recorder.flush();
    return app.db.query(listRequests, { owner: { tenantId, mode }, filter, page });
  });
}
