/** The log of deliveries of a webhook endpoint, and posting them again. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { App } from '../../app.ts';
import type { WebhookEndpointRow } from '../../db/webhook-tables.ts';
import { paramsOf, resourceRoutes } from '../../http/json/resource.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { payloadFor } from '../deliver.ts';
import { getEventOf } from '../deliveries/store.ts';
import { dataForEndpoint } from '../domain-events.ts';
import { getEndpoint, type Owner } from '../store.ts';
import { countReplay, MAX_COUNTED, replayAll, replayDelivery } from './replay.ts';
import {
  deliveryFilter,
  deliverySchema,
  readReplay,
  replayCountQuery,
  replayCountSchema,
  replayResultSchema,
  replaySchema,
  showDelivery,
  showWholeDelivery,
  type WholeDelivery,
  wholeDeliverySchema,
} from './schemas.ts';
import { getDelivery, type LoggedDelivery, listDeliveries } from './store.ts';

const TAG = 'Webhooks';
const ACCEPTED = 'Accepted: the posts are made afterwards';
const PATH = '/webhooks/:webhookId/deliveries';

/** Registers the routes of the log of deliveries. */
export function registerDeliveriesApi(server: FastifyInstance, app: App): void {
  const deliveries = resourceRoutes<WholeDelivery>(server, {
    name: 'webhook delivery',
    plural: 'webhook deliveries',
    tag: TAG,
    path: PATH,
    prefix: 'whd',
    schema: wholeDeliverySchema,
    show: showWholeDelivery,
  });
  deliveries.list(
    {
      description: `Deliveries are kept for ${app.config.retention.webhookDays} days.`,
      query: deliveryFilter,
      item: { schema: deliverySchema, show: showDelivery },
    },
    async (request, page) => {
      const endpoint = await getEndpoint(app.db.read, callerOf(request), request.params.webhookId);
      return listDeliveries(app.db.read, endpoint.id, { ...page, state: request.query.status });
    },
  );
  deliveries.get({}, (request) => getWholeDelivery(app, callerOf(request), request.params));
  registerReplay(server, app);
  registerReplayCount(server, app);
  registerReplayAll(server, app);
}

async function getWholeDelivery(
  app: App,
  owner: Owner,
  { webhookId, id }: { webhookId: string; id: string },
): Promise<WholeDelivery> {
  const endpoint = await getEndpoint(app.db.read, owner, webhookId);
  const delivery = await getDelivery(app.db.read, endpoint.id, id);
  const event = await getEventOf(app.db.read, delivery);
  const data = await dataForEndpoint(app.db.read, event, endpoint);
  return { ...delivery, requestBody: payloadFor(endpoint, { ...event, data }) };
}

function registerReplay(server: FastifyInstance, app: App): void {
  const path = `${PATH}/:id/replay`;
  server.post<{ Params: { webhookId: WebhookEndpointRow['id']; id: LoggedDelivery['id'] } }>(
    path,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'replayWebhookDelivery',
        summary: 'Post a delivery again',
        description:
          'Makes a delivery in any state pending and due now, with as many attempts as a new one. It keeps its id and the id of its event, by which a receiver can recognise it. The request is refused while the delivery is being posted or the endpoint is disabled.',
        tags: [TAG],
        ...paramsOf(path),
        response: { 202: { ...deliverySchema, description: ACCEPTED } },
      },
    },
    async (request, reply) => {
      const { webhookId: endpointId, id } = request.params;
      const replay = { owner: callerOf(request), endpointId, id, now: app.clock.now() };
      const delivery = await app.db.commit(replayDelivery, replay);
      return reply.code(202).send(showDelivery(delivery));
    },
  );
}

const REPLAY_PATH = '/webhooks/:id/replay';

function registerReplayCount(server: FastifyInstance, app: App): void {
  server.get<{ Params: { id: string }; Querystring: Static<typeof replayCountQuery> }>(
    REPLAY_PATH,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'countWebhookReplay',
        summary: 'Count failed and skipped deliveries',
        description:
          'Returns how many deliveries would be posted again now, and posts none. The request is refused while the endpoint is disabled.',
        tags: [TAG],
        ...paramsOf(REPLAY_PATH),
        querystring: replayCountQuery,
        response: { 200: replayCountSchema },
      },
    },
    async (request) => {
      const { params, query } = request;
      const of = { owner: callerOf(request), endpointId: params.id };
      const { maximum = MAX_COUNTED } = query;
      return { count: await countReplay(app, of, { ...readReplay(query), maximum }) };
    },
  );
}

function registerReplayAll(server: FastifyInstance, app: App): void {
  const path = REPLAY_PATH;
  server.post<{ Params: { id: string }; Body: Static<typeof replaySchema> }>(
    path,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'replayWebhookDeliveries',
        summary: 'Post failed and skipped deliveries again',
        description:
          'The oldest deliveries become due at once, the others over the next minutes. The request is refused while the endpoint is disabled, and disabling it ends a replay.',
        tags: [TAG],
        ...paramsOf(path),
        body: replaySchema,
        response: { 202: { ...replayResultSchema, description: ACCEPTED } },
      },
    },
    async (request, reply) => {
      const of = { owner: callerOf(request), endpointId: request.params.id };
      const count = await replayAll(app, of, readReplay(request.body));
      return reply.code(202).send({ count });
    },
  );
}
