/** `/v1/suppressions` (specification 4.10): routes for single addresses. batch-api.ts has those for many. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { SuppressionRow } from '../db/marketing-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { notFound } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { registerSuppressionBatches } from './batch-api.ts';
import { addSuppressions, removeSuppressions } from './change.ts';
import { newSuppression, readAddress, readKey } from './request.ts';
import {
  type NewSuppression,
  newSuppressionSchema,
  suppressionFilter,
  suppressionSchema,
} from './schemas.ts';
import { showSuppression } from './show.ts';
import { getSuppression, listSuppressions } from './store.ts';

const BY_ADDRESS = 'By its id, or by the address, percent-encoded and in any case.';

/** Registers the routes of the suppressions resource. */
export function registerSuppressionsApi(server: FastifyInstance, app: App): void {
  registerAdd(server, app);
  const suppressions = resourceRoutes<SuppressionRow>(server, {
    name: 'suppression',
    tag: 'Suppressions',
    path: '/suppressions',
    prefix: 'sup',
    schema: suppressionSchema,
    show: showSuppression,
  });
  suppressions.list({ query: suppressionFilter }, (request, page) => {
    const { email, reason } = request.query;
    const filter = {
      ...(email !== undefined && { email: readAddress('email', email) }),
      ...(reason !== undefined && { reason }),
    };
    return listSuppressions(app.db.read, callerOf(request).tenantId, { ...filter, ...page });
  });
  suppressions.get({ description: BY_ADDRESS }, async (request) =>
    getSuppression(app.db.read, callerOf(request).tenantId, readKey(request.params.id)),
  );
  suppressions.delete({ description: BY_ADDRESS }, async (request) => {
    const { tenantId, mode } = callerOf(request);
    const keys = [readKey(request.params.id)];
    const cause = { mode, now: app.clock.now() };
    const [removed] = await app.db.commit(removeSuppressions, { tenantId, keys, cause });
    if (!removed) throw notFound('Suppression');
  });
  registerSuppressionBatches(server, app);
}

function registerAdd(server: FastifyInstance, app: App): void {
  server.post<{ Body: NewSuppression }>(
    '/suppressions',
    {
      config: { worksOnLowDisk: true },
      schema: {
        operationId: 'createSuppression',
        summary: 'Suppress an address',
        description: 'Returns 201, or 200 when the address was suppressed already.',
        tags: ['Suppressions'],
        body: newSuppressionSchema,
        response: { 200: suppressionSchema, 201: suppressionSchema },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const cause = { mode: caller.mode, now: app.clock.now() };
      const wanted = [newSuppression(caller.tenantId, request.body, cause.now)];
      const [added] = await app.db.commit(addSuppressions, { wanted, cause });
      if (!added) throw new Error('a suppression that was added has no answer');
      const isNew = added.outcome === 'created';
      return reply.code(isNew ? 201 : 200).send(showSuppression(added.suppression));
    },
  );
}
