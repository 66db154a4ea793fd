/** `/v1/topics` (specification 4.9): create, list, retrieve. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import type { TopicRow } from '../db/tables.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from '../http/page.ts';
import { problemSchema } from '../http/problem.ts';
import { newId } from '../system/ids.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { type NewTopic, newTopicSchema, showTopic, topicSchema } from './schemas.ts';
import { getTopic, insertTopic, listTopics } from './store.ts';

type TopicApp = Pick<App, 'db' | 'clock'>;

const tags = ['Topics'];

export function registerTopicsApi(server: FastifyInstance, app: TopicApp): void {
  server.post<{ Body: NewTopic }>(
    '/topics',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Create a topic',
        tags,
        body: newTopicSchema,
        response: { 201: topicSchema, '4xx': problemSchema },
      },
    },
    async (request, reply) => {
      const topic = newTopic(callerOf(request).tenantId, request.body, app.clock.now());
      await app.db.commit(insertTopic, topic);
      return reply.code(201).send(showTopic(topic));
    },
  );
  server.get<{ Querystring: PageQuery }>(
    '/topics',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'List topics',
        tags,
        querystring: Type.Object(pageQuery),
        response: { 200: pageSchema(topicSchema), '4xx': problemSchema },
      },
    },
    async (request) => {
      const page = pageRequest(request.query, 'top');
      const topics = await listTopics(app.db.read, callerOf(request).tenantId, page);
      return listEnvelope(request.query, topics, showTopic);
    },
  );
  server.get<{ Params: { id: string } }>(
    '/topics/:id',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'Retrieve a topic',
        tags,
        params: Type.Object({ id: Type.String() }),
        response: { 200: topicSchema, '4xx': problemSchema },
      },
    },
    async (request) => showTopic(await getTopic(app.db.read, callerOf(request).tenantId, request.params.id)),
  );
}

function newTopic(tenantId: TopicRow['tenantId'], body: NewTopic, now: number): TopicRow {
  const { name, description = null, defaultOptIn = true } = body;
  return {
    id: newId('top', now),
    tenantId,
    name,
    description,
    defaultOptIn: defaultOptIn ? 1 : 0,
    createdAt: now,
    updatedAt: now,
  };
}
