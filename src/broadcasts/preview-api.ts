/** Routes that show what a broadcast will be, before it is sent: the test. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { createDownloads, type DownloadsApp } from '../emails/download.ts';
import { holdTextFor } from '../emails/hold-text.ts';
import type { SendApp } from '../emails/send.ts';
import { paramsOf } from '../http/json/resource.ts';
import { callerOf, keyCheckOf } from '../tenants/authenticate.ts';
import { type TestBody, testAnswerSchema, testBodySchema } from './preview-schemas.ts';
import { sendTest } from './test-sending.ts';

export type PreviewApp = Omit<SendApp, 'downloads' | 'inFlight'> & DownloadsApp & Pick<App, 'config'>;

const TAG = 'Broadcasts';
const TEST = '/broadcasts/:id/test';

/** Registers the routes on the server. */
export function registerPreviewApi(server: FastifyInstance, app: PreviewApp): void {
  const sending = { ...app, downloads: createDownloads(app) };
  server.post<{ Params: { id: string }; Body: TestBody }>(
    TEST,
    {
      config: { refuses: ['domain_not_verified'] },
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
