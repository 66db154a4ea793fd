/** The routes of webhook endpoints (specification 4.12). Endpoints belong to the mode of the key that made them. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/tables.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from '../http/page.ts';
import { problemSchema } from '../http/problem.ts';
import { type Id, isId, newId } from '../system/ids.ts';
import { type Caller, callerOf } from '../tenants/authenticate.ts';
import {
  checkUrl,
  createdEndpointSchema,
  endpointSchema,
  type NewEndpoint,
  newEndpointSchema,
  showEndpoint,
} from './schemas.ts';
import { newSecret } from './signature.ts';
import {
  deleteEndpoint,
  endpointNotFound,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  type Owner,
} from './store.ts';

type WebhookApp = Pick<App, 'db' | 'clock' | 'config' | 'sealer'>;

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
  server.get<{ Params: { id: string } }>(
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
  server.delete<{ Params: { id: string } }>(
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
      await app.db.commit(deleteEndpoint, { owner, id: readEndpointId(request.params.id) });
      return reply.code(204).send();
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
    events: JSON.stringify([...new Set(events)]),
    description: description ?? null,
    status: 'enabled',
    disabledReason: null,
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
