/** `/v1/broadcasts` (specification 4.5): drafts, and the progress of those that are sent. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import type { ErrorCode } from '../system/errors.ts';
import { MAX_SOURCE_BYTES } from '../templates/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createBroadcast, updateBroadcast } from './change.ts';
import { registerClickedLinksApi } from './clicked-links/api.ts';
import { control } from './control.ts';
import { type PreviewApp, registerPreviewApi } from './preview-api.ts';
import { registerRecipientsApi } from './recipients/api.ts';
import { registerProvidersApi } from './recipients/providers-api.ts';
import {
  broadcastChangeSchema,
  broadcastFilter,
  broadcastSchema,
  broadcastSummarySchema,
  newBroadcastSchema,
} from './schemas.ts';
import { type BroadcastView, showBroadcast, showBroadcastSummary } from './show.ts';
import { resumeBroadcast, sendBroadcast } from './start.ts';
import { deleteBroadcast, getBroadcast, listBroadcasts, withProgress } from './store.ts';

type Action = {
  name: 'send' | 'pause' | 'resume' | 'cancel';
  summary: string;
  description: string;
  refuses: readonly ErrorCode[];
  run(request: FastifyRequest<{ Params: { id: string } }>): Promise<BroadcastRow>;
};

/** Registers the routes of the broadcasts resource. */
export function registerBroadcastsApi(server: FastifyInstance, app: PreviewApp): void {
  registerPreviewApi(server, app);
  registerControlApi(server, app);
  registerRecipientsApi(server, app);
  registerProvidersApi(server, app);
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
      refuses: ['domain_not_verified', 'quota_exceeded'],
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
      refuses: ['domain_not_verified', 'invalid_state', 'quota_exceeded'],
      // A broadcast consists of HTML and text.
      responseBytes: 2 * MAX_SOURCE_BYTES,
    },
    (request) => updateBroadcast(app, callerOf(request), { id: request.params.id, given: request.body }),
  );
  const deletion = 'Deletes a broadcast that was never started. A scheduled one is not sent.';
  broadcasts.delete({ description: deletion, refuses: ['invalid_state'] }, (request) => {
    const { tenantId, mode, domainId } = callerOf(request);
    return app.db.commit(deleteBroadcast, {
      owner: { tenantId, mode, domainId },
      id: request.params.id,
      now: app.clock.now(),
    });
  });
}

/** Registers the routes on the server. */
function registerControlApi(server: FastifyInstance, app: App): void {
  const changeTo =
    (cause: 'paused' | 'resumed' | 'canceled'): Action['run'] =>
    (request) =>
      control(app, { owner: callerOf(request), id: request.params.id, cause });
  const actions: readonly Action[] = [
    {
      name: 'send',
      summary: 'Send a broadcast',
      description:
        'Starts a draft, or a scheduled broadcast before its time. It is checked once more, and its content is frozen: later changes of templates, topics and segments do not matter to it. For a key that requires approval, it does not start, and its `approval` waits for a person; it is a draft then, unless it is scheduled for a time that needs no approval.',
      refuses: [
        'invalid_state',
        'validation_error',
        'restricted_api_key',
        'domain_not_verified',
        'quota_exceeded',
      ],
      run: (request) => sendBroadcast(app, callerOf(request), request.params.id),
    },
    {
      name: 'pause',
      summary: 'Pause a broadcast',
      description:
        'From the answer on, no copy is taken for delivery. Copies that are being delivered at this moment still arrive.',
      refuses: ['invalid_state'],
      run: changeTo('paused'),
    },
    {
      name: 'resume',
      summary: 'Resume a paused broadcast',
      description:
        'Sending continues with the contacts that have not got the broadcast. Bounces and complaints are judged anew, from the copies ' +
        'that are attempted from now on. A broadcast that was paused as `late` is checked and started, like one that is sent.',
      refuses: ['invalid_state', 'validation_error', 'restricted_api_key', 'domain_not_verified'],
      run: (request) => resumeBroadcast(app, callerOf(request), request.params.id),
    },
    {
      name: 'cancel',
      summary: 'Cancel a broadcast',
      description:
        'From the answer on, no copy is taken for delivery. Contacts who have not got the broadcast never will.',
      refuses: ['invalid_state'],
      run: changeTo('canceled'),
    },
  ];
  for (const action of actions) registerAction(server, app, action);
}

function registerAction(
  server: FastifyInstance,
  app: App,
  { name, summary, description, refuses, run }: Action,
): void {
  const path = `/broadcasts/:id/${name}`;
  server.post<{ Params: { id: string } }>(
    path,
    {
      config: { refuses },
      schema: {
        operationId: `${name}Broadcast`,
        summary,
        description,
        tags: ['Broadcasts'],
        ...paramsOf(path),
        response: { 200: broadcastSchema },
      },
    },
    async (request) => showBroadcast(await withProgress(app.db.read, await run(request))),
  );
}
