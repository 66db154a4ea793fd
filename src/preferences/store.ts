/** Reads what a reader receives of a tenant. */
import { findOptedOut } from '../audiences/choices-store.ts';
import type { Tx } from '../db/operation.ts';
import type { Subscription } from '../links/unsubscribe-token.ts';
import { listTopics, MAX_TOPICS } from '../topics/store.ts';
import type { TopicChoice } from './preferences-page.tsx';

/** Returns true when the reader has left the topic of the mail, or all marketing mail of the tenant. */
export async function hasLeft(
  tx: Tx,
  { tenantId, address, topicId }: Pick<Subscription, 'tenantId' | 'address' | 'topicId'>,
): Promise<boolean> {
  const question = { topicId: topicId ?? null, defaultOptIn: true, addresses: [address] };
  return (await findOptedOut(tx, tenantId, question)).size > 0;
}

/** Returns all topics of the tenant, the oldest first, and whether the reader receives each. */
export async function listTopicChoices(
  tx: Tx,
  { tenantId, address }: Pick<Subscription, 'tenantId' | 'address'>,
): Promise<TopicChoice[]> {
  const { items } = await listTopics(tx, tenantId, { limit: MAX_TOPICS });
  const choices: TopicChoice[] = [];
  for (const { id, name, description, defaultOptIn } of items.reverse()) {
    const question = { topicId: id, defaultOptIn: defaultOptIn === 1, addresses: [address] };
    const optedOut = await findOptedOut(tx, tenantId, question);
    choices.push({ id, name, description, isOptedIn: optedOut.size === 0 });
  }
  return choices;
}
