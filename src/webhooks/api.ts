/** The routes of webhook endpoints (specification 4.12). Endpoints belong to the mode of the key that made them. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/tables.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from '../http/page.ts';
import { problemSchema } from '../http/problem.ts';
import { type Id, isId, newId } from '../system/ids.ts';
import { type Caller, callerOf } from '../tenants/authenticate.ts';
import { type DeliveryState, listDeliveries } from './deliveries/store.ts';
import {
  checkUrl,
  createdEndpointSchema,
  deliverySchema,
  deliveryStatus,
  type EndpointChange,
  endpointChangeSchema,
  endpointSchema,
  type NewEndpoint,
  newEndpointSchema,
  readTestType,
  showDelivery,
  showEndpoint,
  testResultSchema,
} from './schemas.ts';
import { createSendTest } from './send-test.ts';
import { newSecret } from './signature.ts';
import {
  deleteEndpoint,
  endpointNotFound,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  type Owner,
} from './store.ts';
import { eventList, updateEndpoint } from './update.ts';

type WebhookApp = Pick<App, 'db' | 'clock' | 'config' | 'sealer' | 'fetch' | 'notices'>;
type ById = { Params: { id: string } };

const tags = ['Webhooks'];
const problem = { '4xx': problemSchema };
const params = Type.Object({ id: Type.String() });

export function registerWebhookApi(server: FastifyInstance, app: WebhookApp): void {
  registerCreate(server, app);
  server.get<{ Querystring: PageQuery }>(
    '/webhooks',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'List webhook endpoints',
        tags,
        querystring: Type.Object(pageQuery),
        response: { 200: pageSchema(endpointSchema), ...problem },
      },
    },
    async (request) => {
      const page = await listEndpoints(
        app.db.read,
        ownerOf(callerOf(request)),
        pageRequest(request.query, 'wh'),
      );
      return listEnvelope(request.query, page, showEndpoint);
    },
  );
  server.get<ById>(
    '/webhooks/:id',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'Get a webhook endpoint',
        tags,
        params,
        response: { 200: endpointSchema, ...problem },
      },
    },
    async (request) =>
      showEndpoint(
        await getEndpoint(app.db.read, ownerOf(callerOf(request)), readEndpointId(request.params.id)),
      ),
  );
  registerChanges(server, app);
  registerTest(server, app);
  registerDeliveries(server, app);
}

function registerChanges(server: FastifyInstance, app: WebhookApp): void {
  server.patch<ById & { Body: EndpointChange }>(
    '/webhooks/:id',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Update a webhook endpoint',
        description:
          'What is still to be posted goes to the new URL. While an endpoint is disabled its deliveries are skipped.',
        tags,
        params,
        body: endpointChangeSchema,
        response: { 200: endpointSchema, ...problem },
      },
    },
    async (request) => {
      const owner = ownerOf(callerOf(request));
      const id = readEndpointId(request.params.id);
      return showEndpoint(await updateEndpoint(app, owner, id, request.body));
    },
  );
  server.delete<ById>(
    '/webhooks/:id',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Delete a webhook endpoint',
        description: 'Posts that are still to be made to it are not made.',
        tags,
        params,
        response: { 204: Type.Null(), ...problem },
      },
    },
    async (request, reply) => {
      const owner = ownerOf(callerOf(request));
      const id = readEndpointId(request.params.id);
      await app.db.commit(deleteEndpoint, { owner, id, now: app.clock.now() });
      app.notices.notify('webhooks');
      return reply.code(204).send();
    },
  );
}

function registerTest(server: FastifyInstance, app: WebhookApp): void {
  const sendTest = createSendTest(app);
  server.post<ById>(
    '/webhooks/:id/test',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Post a sample event to a webhook endpoint',
        description:
          'Answers when the receiver has, or after 15 s. A body `{ type }` chooses the event. The sample carries `"test": true`, is posted to a disabled endpoint too, and once.',
        tags,
        params,
        response: { 200: testResultSchema, ...problem },
      },
    },
    async (request) =>
      sendTest(ownerOf(callerOf(request)), readEndpointId(request.params.id), readTestType(request.body)),
  );
}

function registerDeliveries(server: FastifyInstance, app: WebhookApp): void {
  server.get<ById & { Querystring: PageQuery & { status?: DeliveryState } }>(
    '/webhooks/:id/deliveries',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'List the deliveries of a webhook endpoint',
        description: 'They are kept for 30 days.',
        tags,
        params,
        querystring: Type.Object({ ...pageQuery, status: Type.Optional(deliveryStatus) }),
        response: { 200: pageSchema(deliverySchema), ...problem },
      },
    },
    async (request) => {
      const { status: state, ...query } = request.query;
      const page = pageRequest(query, 'whd');
      const id = readEndpointId(request.params.id);
      const endpoint = await getEndpoint(app.db.read, ownerOf(callerOf(request)), id);
      const deliveries = await listDeliveries(app.db.read, endpoint.id, { ...page, state });
      return listEnvelope(query, deliveries, showDelivery);
    },
  );
}

function registerCreate(server: FastifyInstance, app: WebhookApp): void {
  server.post<{ Body: NewEndpoint }>(
    '/webhooks',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Create a webhook endpoint',
        tags,
        body: newEndpointSchema,
        response: { 201: createdEndpointSchema, ...problem },
      },
    },
    async (request, reply) => {
      checkUrl(request.body.url, app.config.webhooks);
      const secret = newSecret();
      const row = newEndpoint(app, callerOf(request), { ...request.body, secret });
      await app.db.commit(insertEndpoint, row);
      return reply.code(201).send({ ...showEndpoint(row), secret });
    },
  );
}

function newEndpoint(
  app: Pick<App, 'clock' | 'sealer'>,
  caller: Caller,
  { url, events, description, secret }: NewEndpoint & { secret: string },
): WebhookEndpointRow {
  const now = app.clock.now();
  const id = newId('wh', now);
  return {
    id,
    tenantId: caller.tenantId,
    mode: caller.mode,
    url,
    events: eventList(events),
    description: description ?? null,
    status: 'enabled',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    warnedAt: null,
    secretSealed: app.sealer.seal(secret, [caller.tenantId, id]),
    createdAt: now,
    updatedAt: now,
  };
}

function ownerOf({ tenantId, mode }: Caller): Owner {
  return { tenantId, mode };
}

/** An id of another kind names nothing here. */
function readEndpointId(text: string): Id<'wh'> {
  if (!isId('wh', text)) throw endpointNotFound();
  return text;
}
