/** Topics: all SQL, and the only writer of their table. Live and test keys share them. */
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { type Param, statement } from '../db/statement.ts';
import type { TopicRow } from '../db/tables.ts';
import { AppError, notFound } from '../system/errors.ts';

/** Of one tenant (api.md 1.10). */
export const MOST_TOPICS = 100;

/** @throws AppError validation_error when the tenant has as many as it may */
export const insertTopic = defineWrite('topics.insert', async (tx, topic: TopicRow) => {
  const { count } = await tx
    .selectFrom('topics')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', topic.tenantId)
    .executeTakeFirstOrThrow();
  if (count >= MOST_TOPICS) {
    throw new AppError('validation_error', `There are ${count} topics already, as many as there may be`);
  }
  await tx.insertInto('topics').values(topic).execute();
});

const topicById = statement((db, param: Param<Pick<TopicRow, 'tenantId' | 'id'>>) =>
  db.selectFrom('topics').selectAll().where('tenantId', '=', param('tenantId')).where('id', '=', param('id')),
);

/** Undefined also for another tenant's. */
export function findTopic(tx: Tx, tenantId: TopicRow['tenantId'], id: string): Promise<TopicRow | undefined> {
  return topicById.first(tx, { tenantId, id: id as TopicRow['id'] });
}

/** @throws AppError not_found, also for another tenant's */
export async function getTopic(tx: Tx, tenantId: TopicRow['tenantId'], id: string): Promise<TopicRow> {
  const topic = await findTopic(tx, tenantId, id);
  if (!topic) throw notFound('Topic');
  return topic;
}

/** Newest first. */
export function listTopics(
  tx: Tx,
  tenantId: TopicRow['tenantId'],
  page: PageRequest,
): Promise<Page<TopicRow>> {
  const all = tx.selectFrom('topics').selectAll().where('tenantId', '=', tenantId);
  return readPage(page, (slice) => inSlice(all, 'id', slice).execute());
}
