/** The calls about topics. */
import type { Static } from 'typebox';
import { invalid } from '../../system/errors.ts';
import type { topicSchema } from '../../topics/schemas.ts';
import { MAX_TOPICS } from '../../topics/store.ts';
import type { Call } from './call.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { askPage, showPage } from './lists.ts';

export type ShownTopic = Static<typeof topicSchema>;

const named = ({ id }: { id: string }) => ({ object: 'topic', id });

export const topicCalls: readonly Call[] = [
  {
    at: 'POST /topics',
    operation: 'createTopic',
    ask: ({ body }) => ({ body: newTopicFrom(fieldsOf(body)) }),
    answer: named,
  },
  {
    at: 'GET /topics',
    operation: 'listTopics',
    // The client has no parameters for pages.
    ask: ({ query }) => askPage({ query: { limit: MAX_TOPICS, ...query } }),
    answer: showPage(showTopicItem),
  },
  {
    at: 'GET /topics/:id',
    operation: 'getTopic',
    answer: (topic: ShownTopic) => ({ object: 'topic', ...showTopicItem(topic) }),
  },
  {
    at: 'PATCH /topics/:id',
    operation: 'updateTopic',
    ask: ({ body }) => ({ body: changeFrom(fieldsOf(body)) }),
    answer: named,
  },
  {
    at: 'DELETE /topics/:id',
    operation: 'deleteTopic',
    answer: (_: undefined, { params: { id } }) => ({ object: 'topic', id, deleted: true }),
  },
];

function newTopicFrom(given: Fields) {
  const { default_subscription: subscription } = given;
  if (subscription !== 'opt_in' && subscription !== 'opt_out')
    throw invalid('default_subscription', '`default_subscription` must be opt_in or opt_out');
  return { ...changeFrom(given), defaultOptIn: subscription === 'opt_in' };
}

/** Returns the change of a topic. Every topic is visible on preference pages, so `visibility` is left out. */
function changeFrom({ name, description }: Fields) {
  return { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
}

function showTopicItem({ id, name, description, defaultOptIn, createdAt }: ShownTopic) {
  return {
    id,
    name,
    description,
    default_subscription: subscriptionOf(defaultOptIn),
    visibility: 'public',
    created_at: createdAt,
  };
}

/** Returns the word for a default of a topic. */
export function subscriptionOf(optIn: boolean): 'opt_in' | 'opt_out' {
  return optIn ? 'opt_in' : 'opt_out';
}
