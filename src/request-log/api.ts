/** Records the requests of keys, and serves `GET /v1/request-log`. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { RequestLogRow } from '../db/api-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { callerOf, findPlannedCaller } from '../tenants/authenticate.ts';
import { createDescription } from './entry.ts';
import { RequestRecorder } from './recorder.ts';
import { ABOUT_LOG, readRequestFilter, requestFilter, requestSchema, showRequest } from './schemas.ts';
import { listRequests } from './store.ts';

/** Operation that lists the log. Reads of it are not recorded: whoever watches it would fill it. */
const LIST = 'listRequests';

type RequestRecord = {
  /** Records the requests with a valid key to every route that is registered on `scope`, whichever is registered first. */
  recordFrom(scope: FastifyInstance): void;
  /** Resolves when each request that was recorded before is stored or left out. */
  flush(): Promise<void>;
};

/** Returns the record of the requests to a server, which is complete when the server is closed. */
export function createRequestRecord(app: App, server: FastifyInstance): RequestRecord {
  const recorder = new RequestRecorder(app);
  const describe = createDescription(app.config);
  server.addHook('onClose', () => recorder.flush());
  return {
    recordFrom(scope) {
      scope.addHook('onResponse', (request, reply, done) => {
        const caller = findPlannedCaller(request)?.caller;
        const isOwn = request.routeOptions.schema?.operationId === LIST;
        // Requests of the dashboard, behind which a person stands, are in the audit log when they change something.
        if (caller && caller.keyId !== null && !isOwn)
          recorder.record(describe({ ...caller, keyId: caller.keyId }, request, reply));
        done();
      });
    },
    flush: () => recorder.flush(),
  };
}

/** Registers the list of the requests that `record` has. */
export function registerRequestLog(
  server: FastifyInstance,
  { db, requestRecord }: Pick<App, 'db'> & { requestRecord: RequestRecord },
): void {
  const requests = resourceRoutes<RequestLogRow>(server, {
    name: 'request',
    tag: 'Request log',
    path: '/request-log',
    prefix: 'req',
    schema: requestSchema,
    show: showRequest,
  });
  requests.list({ description: ABOUT_LOG, query: requestFilter }, async (request, page) => {
    const { tenantId, mode } = callerOf(request);
    const filter = readRequestFilter(request.query);
    await requestRecord.flush();
    return db.query(listRequests, { owner: { tenantId, mode }, filter, page });
  });
}
