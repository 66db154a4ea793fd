/** Stores topics. All SQL of this table is here, and nothing else writes it. Live and test keys share topics. */

import { hasValues } from '../db/has-values.ts';
import type { TopicRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { countRows, deleteRows, findRow, insertRow, updateRows } from '../db/rows.ts';
import { limitReached, orNotFound } from '../system/errors.ts';
import { type Changer, requireTopicUnplanned } from '../tenants/planned-mail-store.ts';
import type { TopicChange } from './schemas.ts';

/** Maximum number of topics per tenant. */
export const MAX_TOPICS = 100;

/**
 * Stores a new topic.
 * @throws AppError validation_error when the tenant has the maximum number of topics
 */
export const insertTopic = defineWrite('topics.insert', async (tx, topic: TopicRow) => {
  const count = await countRows(tx, 'topics', { tenantId: topic.tenantId });
  if (count >= MAX_TOPICS) {
    throw limitReached('topics', count);
  }
  await insertRow(tx, 'topics', topic);
});

/** Returns a topic, or undefined when the tenant has no such topic. */
export function findTopic(tx: Tx, tenantId: TopicRow['tenantId'], id: string): Promise<TopicRow | undefined> {
  return findRow(tx, 'topics', { tenantId, id: id as TopicRow['id'] });
}

/**
 * Returns a topic.
 * @throws AppError not_found, also for the topic of another tenant
 */
export async function getTopic(tx: Tx, tenantId: TopicRow['tenantId'], id: string): Promise<TopicRow> {
  return orNotFound(await findTopic(tx, tenantId, id), 'Topic');
}

/** Returns a page of topics, newest first. */
export function listTopics(
  tx: Tx,
  tenantId: TopicRow['tenantId'],
  page: PageRequest,
): Promise<Page<TopicRow>> {
  const all = tx.selectFrom('topics').selectAll().where('tenantId', '=', tenantId);
  return readPage(page, (slice) => inSlice(all, 'id', slice).execute());
}

type ById = Changer & { id: string };

/**
 * Changes the named fields of a topic, and returns it. Equal values are not a change.
 * @throws AppError not_found, restricted_api_key
 */
export const changeTopic = defineWrite(
  'topics.change',
  async (tx, { tenantId, approval, id, change, now }: ById & { change: TopicChange; now: number }) => {
    const before = await getTopic(tx, tenantId, id);
    const { name = before.name, description = before.description } = change;
    const defaultOptIn = change.defaultOptIn === undefined ? before.defaultOptIn : flag(change.defaultOptIn);
    const wanted = { name, description, defaultOptIn };
    if (hasValues(before, wanted)) return before;
    await requireTopicUnplanned(tx, { tenantId, approval }, before.id);
    const changed = { ...wanted, updatedAt: now };
    await updateRows(tx, 'topics', { set: changed, where: { id: before.id } });
    return { ...before, ...changed };
  },
);

/**
 * Deletes a topic. The choices that contacts made about it have no effect any more and are no longer shown.
 * @throws AppError not_found, restricted_api_key
 */
export const deleteTopic = defineWrite('topics.delete', async (tx, { tenantId, approval, id }: ById) => {
  const topic = await getTopic(tx, tenantId, id);
  await requireTopicUnplanned(tx, { tenantId, approval }, topic.id);
  await deleteRows(tx, 'topics', { id: topic.id });
});

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
