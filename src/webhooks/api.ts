/** `/v1/webhooks` (specification 4.12). An endpoint belongs to the mode of the key that created it. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { wakeTasks } from '../tasks/engine.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createEndpoint } from './create.ts';
import { findWaitingSince, WEBHOOK_TASKS } from './deliveries/store.ts';
import { registerDeliveriesApi } from './log/api.ts';
import type { WebhookCalls } from './part.ts';
import { rotateSecret } from './rotate-secret.ts';
import {
  endpointChangeSchema,
  endpointSchema,
  type Lag,
  newEndpointSchema,
  type Rotation,
  rotationSchema,
  secretEndpointSchema,
  showEndpoint,
  type TestBody,
  testResultSchema,
  testSchema,
} from './schemas.ts';
import { createSendTest, type SendTest } from './send-test.ts';
import { deleteEndpoint, getEndpoint, listEndpoints } from './store.ts';
import { updateEndpoint } from './update.ts';

type ById = { Params: { id: string } };
type Shown = WebhookEndpointRow & Lag;
type WithSecret = Shown & { secret: string };

const TAG = 'Webhooks';

/** Registers the routes of the webhooks resource. */
export function registerWebhookApi(server: FastifyInstance, app: App & { webhookCalls: WebhookCalls }): void {
  const show = (row: Shown) => showEndpoint(row, app.clock.now());
  const showWithSecret = (row: WithSecret) => ({ ...show(row), secret: row.secret });
  registerEndpoints(server, app, { show, showWithSecret });
  registerRotation(server, app, showWithSecret);
  registerTest(server, createSendTest(app, app.webhookCalls));
  registerDeliveriesApi(server, app);
}

type Shows = { show: (row: Shown) => unknown; showWithSecret: (row: WithSecret) => unknown };

function registerEndpoints(server: FastifyInstance, app: App, { show, showWithSecret }: Shows): void {
  const endpoints = resourceRoutes<Shown>(server, {
    name: 'webhook endpoint',
    tag: TAG,
    path: '/webhooks',
    prefix: 'wh',
    schema: endpointSchema,
    show,
  });
  endpoints.create(
    {
      body: newEndpointSchema,
      answer: { schema: secretEndpointSchema, show: showWithSecret },
      description: 'The response contains the `secret` that signs every post. It is not shown again.',
    },
    async (request) => withLag(app, await createEndpoint(app, callerOf(request), request.body)),
  );
  endpoints.list({}, async (request, wanted) => {
    const page = await listEndpoints(app.db.read, callerOf(request), wanted);
    return { ...page, items: await Promise.all(page.items.map((row) => withLag(app, row))) };
  });
  endpoints.get({}, async (request) =>
    withLag(app, await getEndpoint(app.db.read, callerOf(request), request.params.id)),
  );
  endpoints.update(
    {
      body: endpointChangeSchema,
      description:
        'Fields that are left out stay as they are. Deliveries that are still due are posted to the new URL. While an endpoint is disabled, its deliveries are skipped.',
    },
    async (request) => {
      const change = { id: request.params.id, wanted: request.body };
      return withLag(app, await updateEndpoint(app, callerOf(request), change));
    },
  );
  endpoints.delete({ description: 'Deliveries that are still due are not posted.' }, async (request) => {
    const { id } = request.params;
    await app.db.commit(deleteEndpoint, { owner: callerOf(request), id });
    wakeTasks(app, WEBHOOK_TASKS, [id]);
  });
}

async function withLag<Row extends Pick<WebhookEndpointRow, 'id'>>(
  { db }: Pick<App, 'db'>,
  row: Row,
): Promise<Row & Lag> {
  return { ...row, waitingSince: await findWaitingSince(db.read, row.id) };
}

function registerRotation(server: FastifyInstance, app: App, showWithSecret: Shows['showWithSecret']): void {
  const path = '/webhooks/:id/rotate-secret';
  server.post<ById & { Body: Rotation | undefined }>(
    path,
    {
      config: { bodyOptional: true, worksOnLowDisk: true },
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the secret of a webhook endpoint',
        description:
          'Returns the new `secret`, which is not shown again. For `overlapSeconds`, each post has two signatures: one with the new secret, then one with the previous secret. Older secrets no longer sign.',
        tags: [TAG],
        ...paramsOf(path),
        body: rotationSchema,
        response: { 200: secretEndpointSchema },
      },
    },
    async (request) => {
      const { overlapSeconds = 0 } = request.body ?? {};
      const { id } = request.params;
      return showWithSecret(
        await withLag(app, await rotateSecret(app, callerOf(request), { id, overlapSeconds })),
      );
    },
  );
}

function registerTest(server: FastifyInstance, sendTest: SendTest): void {
  const path = '/webhooks/:id/test';
  server.post<ById & { Body: TestBody | undefined }>(
    path,
    {
      config: { bodyOptional: true, worksOnLowDisk: true },
      schema: {
        operationId: 'testWebhookEndpoint',
        summary: 'Post a sample event to a webhook endpoint',
        description:
          'The response is sent once the receiver has answered, or after 15 s. The sample contains `"test": true`. It is posted once, also to a disabled endpoint.',
        tags: [TAG],
        ...paramsOf(path),
        body: testSchema,
        response: { 200: testResultSchema },
      },
    },
    async (request) => {
      const { type = 'email.delivered' } = request.body ?? {};
      return sendTest(callerOf(request), request.params.id, type);
    },
  );
}
