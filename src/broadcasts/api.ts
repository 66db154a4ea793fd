/** `/v1/broadcasts` (specification 4.5): drafts. */
import type { FastifyInstance } from 'fastify';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { MAX_SOURCE_BYTES } from '../templates/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createBroadcast, updateBroadcast } from './change.ts';
import { type PreviewApp, registerPreviewApi } from './preview-api.ts';
import {
  broadcastChangeSchema,
  broadcastFilter,
  broadcastSchema,
  broadcastSummarySchema,
  newBroadcastSchema,
  showBroadcast,
  showBroadcastSummary,
} from './schemas.ts';
import { deleteBroadcast, getBroadcast, listBroadcasts } from './store.ts';

/** Registers the routes of the broadcasts resource. */
export function registerBroadcastsApi(server: FastifyInstance, app: PreviewApp): void {
  registerPreviewApi(server, app);
  const broadcasts = resourceRoutes<BroadcastRow>(server, {
    name: 'broadcast',
    tag: 'Broadcasts',
    path: '/broadcasts',
    prefix: 'brd',
    schema: broadcastSchema,
    show: showBroadcast,
  });
  broadcasts.create(
    {
      body: newBroadcastSchema,
      description: 'Creates a draft. Nobody receives it until it is sent.',
      refuses: ['domain_not_verified'],
    },
    (request) => createBroadcast(app, callerOf(request), request.body),
  );
  const item = { schema: broadcastSummarySchema, show: showBroadcastSummary };
  broadcasts.list({ item, query: broadcastFilter }, (request, page) => {
    const { status, audienceId } = request.query;
    return listBroadcasts(app.db.read, callerOf(request), { ...page, status, audienceId });
  });
  broadcasts.get({}, (request) => getBroadcast(app.db.read, callerOf(request), request.params.id));
  broadcasts.update(
    {
      body: broadcastChangeSchema,
      description:
        'Fields that are left out stay as they are; null clears a field. The draft is checked as a whole, so everything that it names must still exist.',
      refuses: ['domain_not_verified'],
      // A broadcast consists of HTML and text.
      responseBytes: 2 * MAX_SOURCE_BYTES,
    },
    (request) => updateBroadcast(app, callerOf(request), { id: request.params.id, given: request.body }),
  );
  broadcasts.delete({}, (request) => {
    const { tenantId, mode } = callerOf(request);
    return app.db.commit(deleteBroadcast, { owner: { tenantId, mode }, id: request.params.id });
  });
}
