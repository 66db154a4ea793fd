/** Routes that show what a broadcast will be, before it is sent: the preflight and the test. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { Scans } from '../audiences/segments/scan.ts';
import { createSigningKeys } from '../domains/signing-key.ts';
import { createDownloads } from '../emails/download.ts';
import { holdTextFor } from '../emails/hold-text.ts';
import { paramsOf } from '../http/json/resource.ts';
import { whileAwaited } from '../http/transport/client-disconnect.ts';
import { createOriginCheck } from '../links/check-origin.ts';
import { createLinks } from '../links/links.ts';
import type { ByteBudget } from '../system/guards/byte-budget.ts';
import { callerOf, keyCheckOf } from '../tenants/authenticate.ts';
import { runPreflight } from './preflight/preflight.ts';
import { previewBroadcast } from './preflight/preview.ts';
import {
  type PreviewQuery,
  preflightSchema,
  previewQuery,
  previewSchema,
  showPreflight,
  showPreview,
  type TestBody,
  testAnswerSchema,
  testBodySchema,
} from './preview-schemas.ts';
import { sendTest } from './test-sending.ts';

export type PreviewApp = App & { bodies: ByteBudget; scans: Scans };

const TAG = 'Broadcasts';
const TEST = '/broadcasts/:id/test';
const PREFLIGHT = '/broadcasts/:id/preflight';
const PREVIEW = '/broadcasts/:id/preview';

/** Registers the routes on the server. */
export function registerPreviewApi(server: FastifyInstance, app: PreviewApp): void {
  registerTest(server, app);
  registerPreflight(server, app);
  registerPreview(server, app);
}

function registerPreview(server: FastifyInstance, app: PreviewApp): void {
  server.get<{ Params: { id: string }; Querystring: PreviewQuery }>(
    PREVIEW,
    {
      config: { refuses: ['invalid_state', 'validation_error'] },
      schema: {
        operationId: 'previewBroadcast',
        summary: 'Show a broadcast as a contact would read it',
        description:
          'Returns the subject and the texts of a broadcast that has not started, with the values of a contact. Nothing is sent or ' +
          'changed: links are not tracked, and the link to unsubscribe leads nowhere.',
        tags: [TAG],
        ...paramsOf(PREVIEW),
        querystring: previewQuery,
        response: { 200: previewSchema },
      },
    },
    async (request) => {
      const { id } = request.params;
      const asked = { id, contact: request.query.contact, holdText: holdTextFor(request) };
      return showPreview(await previewBroadcast(app, callerOf(request), asked));
    },
  );
}

function registerPreflight(server: FastifyInstance, app: PreviewApp): void {
  const previewing = {
    ...app,
    links: createLinks(app),
    signingKeys: createSigningKeys(app),
    originCheck: createOriginCheck(app),
  };
  server.get<{ Params: { id: string } }>(
    PREFLIGHT,
    {
      config: { refuses: ['invalid_state', 'validation_error', 'restricted_api_key', 'domain_not_verified'] },
      schema: {
        operationId: 'preflightBroadcast',
        summary: 'Show what a broadcast will be',
        description:
          'Returns who gets the broadcast, who does not and why, the size of the message, and what may go wrong. The broadcast is ' +
          'checked as when it is sent, and refused with the same errors. Nothing is changed.',
        tags: [TAG],
        ...paramsOf(PREFLIGHT),
        response: { 200: preflightSchema },
      },
    },
    async (request) => {
      const { id } = request.params;
      const holdText = holdTextFor(request);
      const run = (gone: AbortSignal) => runPreflight(previewing, callerOf(request), { id, gone, holdText });
      return showPreflight(await whileAwaited(request, run));
    },
  );
}

function registerTest(server: FastifyInstance, app: PreviewApp): void {
  const sending = { ...app, downloads: createDownloads(app), links: createLinks(app) };
  server.post<{ Params: { id: string }; Body: TestBody }>(
    TEST,
    {
      config: { refuses: ['invalid_state', 'domain_not_verified'] },
      schema: {
        operationId: 'testBroadcast',
        summary: 'Send a test of a broadcast',
        description:
          'Sends the broadcast to a few addresses, as a contact would get it. Each test is an ordinary email of the type broadcast: ' +
          'it counts towards the quota, and addresses that are suppressed or have unsubscribed are refused, each in its item. The ' +
          'broadcast, its recipients and its counts stay as they are. The link to unsubscribe works, for the address itself.',
        tags: [TAG],
        ...paramsOf(TEST),
        body: testBodySchema,
        response: { 200: testAnswerSchema },
      },
    },
    async (request) => ({
      data: await sendTest(sending, callerOf(request), {
        id: request.params.id,
        body: request.body,
        holdText: holdTextFor(request),
        requireValidKey: keyCheckOf(request),
      }),
    }),
  );
}
