/** `/v1/broadcasts` (specification 4.5): drafts, and the progress of those that are sent. */
import type { FastifyInstance } from 'fastify';
import { resourceRoutes } from '../http/json/resource.ts';
import { MAX_SOURCE_BYTES } from '../templates/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createBroadcast, updateBroadcast } from './change.ts';
import { registerControlApi } from './control-api.ts';
import { type PreviewApp, registerPreviewApi } from './preview-api.ts';
import { withProgress } from './progress.ts';
import {
  type BroadcastView,
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
  registerControlApi(server, app);
  const { read } = app.db;
  const broadcasts = resourceRoutes<BroadcastView>(server, {
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
    async (request) => withProgress(read, await createBroadcast(app, callerOf(request), request.body)),
  );
  const item = { schema: broadcastSummarySchema, show: showBroadcastSummary };
  broadcasts.list({ item, query: broadcastFilter }, async (request, page) => {
    const { status, audienceId } = request.query;
    const { items, hasMore } = await listBroadcasts(read, callerOf(request), { ...page, status, audienceId });
    return { items: await Promise.all(items.map((broadcast) => withProgress(read, broadcast))), hasMore };
  });
  broadcasts.get({}, async (request) =>
    withProgress(read, await getBroadcast(read, callerOf(request), request.params.id)),
  );
  broadcasts.update(
    {
      body: broadcastChangeSchema,
      description:
        'Changes a draft. Fields that are left out stay as they are; null clears a field. The draft is checked as a whole, so everything that it names must still exist.',
      refuses: ['domain_not_verified', 'invalid_state'],
      // A broadcast consists of HTML and text.
      responseBytes: 2 * MAX_SOURCE_BYTES,
    },
    async (request) => {
      const { id } = request.params;
      return withProgress(read, await updateBroadcast(app, callerOf(request), { id, given: request.body }));
    },
  );
  broadcasts.delete({ description: 'Deletes a draft.', refuses: ['invalid_state'] }, (request) => {
    const { tenantId, mode } = callerOf(request);
    return app.db.commit(deleteBroadcast, { owner: { tenantId, mode }, id: request.params.id });
  });
}
