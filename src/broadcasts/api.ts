/** `/v1/broadcasts` (specification 4.5): drafts, and the progress of those that are sent. */
import type { FastifyInstance } from 'fastify';
import { resourceRoutes } from '../http/json/resource.ts';
import { MAX_SOURCE_BYTES } from '../templates/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createBroadcast, updateBroadcast } from './change.ts';
import { registerClickedLinksApi } from './clicked-links/api.ts';
import { registerControlApi } from './control-api.ts';
import { type PreviewApp, registerPreviewApi } from './preview-api.ts';
import { registerRecipientsApi } from './recipients/api.ts';
import {
  broadcastChangeSchema,
  broadcastFilter,
  broadcastSchema,
  broadcastSummarySchema,
  newBroadcastSchema,
} from './schemas.ts';
import { type BroadcastView, showBroadcast, showBroadcastSummary } from './show.ts';
import { deleteBroadcast, getBroadcast, listBroadcasts, withProgress } from './store.ts';

/** Registers the routes of the broadcasts resource. */
export function registerBroadcastsApi(server: FastifyInstance, app: PreviewApp): void {
  registerPreviewApi(server, app);
  registerControlApi(server, app);
  registerRecipientsApi(server, app);
  registerClickedLinksApi(server, app);
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
      description:
        'Creates a draft, which nobody receives until it is sent, or with `scheduleAt` a broadcast that is sent at that time.',
      refuses: ['domain_not_verified'],
    },
    (request) => createBroadcast(app, callerOf(request), request.body),
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
        'Changes a draft or a scheduled broadcast. Fields that are left out stay as they are; null clears a field. The broadcast is ' +
        'checked as a whole, so everything that it names must still exist. Of a broadcast that is being sent or paused, `pace` alone can ' +
        'be changed.',
      refuses: ['domain_not_verified', 'invalid_state'],
      // A broadcast consists of HTML and text.
      responseBytes: 2 * MAX_SOURCE_BYTES,
    },
    (request) => updateBroadcast(app, callerOf(request), { id: request.params.id, given: request.body }),
  );
  const deletion = 'Deletes a broadcast that was never started. A scheduled one is not sent.';
  broadcasts.delete({ description: deletion, refuses: ['invalid_state'] }, (request) => {
    const { tenantId, mode, domainId } = callerOf(request);
    return app.db.commit(deleteBroadcast, { owner: { tenantId, mode, domainId }, id: request.params.id });
  });
}
