/** `/v1/topics` (specification 4.9). */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { TopicRow } from '../db/marketing-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { newId } from '../system/ids.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { type NewTopic, newTopicSchema, showTopic, topicChangeSchema, topicSchema } from './schemas.ts';
import { changeTopic, deleteTopic, getTopic, insertTopic, listTopics } from './store.ts';

/** Registers the routes of the topics resource. */
export function registerTopicsApi(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  const topics = resourceRoutes<TopicRow>(server, {
    name: 'topic',
    tag: 'Topics',
    path: '/topics',
    prefix: 'top',
    schema: topicSchema,
    show: showTopic,
  });
  topics.create({ body: newTopicSchema }, async (request) => {
    const topic = newTopic(callerOf(request).tenantId, request.body, app.clock.now());
    await app.db.commit(insertTopic, topic);
    return topic;
  });
  topics.list({}, (request, page) => listTopics(app.db.read, callerOf(request).tenantId, page));
  topics.get({}, (request) => getTopic(app.db.read, callerOf(request).tenantId, request.params.id));
  topics.update(
    {
      body: topicChangeSchema,
      description:
        'Fields that are left out stay as they are. A new default applies to readers who made no choice. A key that requires approval cannot change a topic that a scheduled broadcast names.',
    },
    (request) => {
      const { tenantId, approval } = callerOf(request);
      const { id } = request.params;
      const change = request.body;
      return app.db.commit(changeTopic, { tenantId, approval, id, change, now: app.clock.now() });
    },
  );
  const description =
    'Deletes a topic and the choices of it. Mail that was accepted before is still sent. The next change of a draft that names the topic must set another one, or null.';
  topics.delete({ description }, (request) => {
    const { tenantId, approval } = callerOf(request);
    return app.db.commit(deleteTopic, { tenantId, approval, id: request.params.id });
  });
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
