/** Schemas of the topics API (specification 2.8 and 4.9). */
import { type Static, Type } from 'typebox';
import type { TopicRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';

/** Maximum length of a name. */
const MAX_NAME_CHARACTERS = 50;
const MAX_DESCRIPTION_CHARACTERS = 200;

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_CHARACTERS,
    pattern: PLAIN_TEXT,
    description: 'Name for your own use; readers do not see it.',
  }),
  description: Type.Union(
    [Type.String({ maxLength: MAX_DESCRIPTION_CHARACTERS, pattern: PLAIN_TEXT }), Type.Null()],
    {
      description: 'Description that preference pages show.',
    },
  ),
  defaultOptIn: Type.Boolean({
    description: 'True when readers who made no choice receive this mail; default true.',
  }),
};

const EXAMPLE = { name: 'Product news', description: 'What is new, once a month', defaultOptIn: true };

export const newTopicSchema = Type.Object(
  {
    ...fields,
    description: Type.Optional(fields.description),
    defaultOptIn: Type.Optional(fields.defaultOptIn),
  },
  { examples: [EXAMPLE] },
);
export type NewTopic = Static<typeof newTopicSchema>;

export const topicChangeSchema = Type.Partial(Type.Object(fields), {
  examples: [{ description: 'What is new, twice a month' }],
});
export type TopicChange = Static<typeof topicChangeSchema>;

export const topicSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    defaultOptIn: Type.Boolean(),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  {
    title: 'Topic',
    examples: [
      {
        id: 'top_01khq3z5vgxw1r8t6n2m4c9b7d',
        ...EXAMPLE,
        createdAt: '2026-03-01T09:00:00.000Z',
        updatedAt: '2026-03-01T09:00:00.000Z',
      },
    ],
  },
);

/** Returns a topic as the API shows it. */
export function showTopic(row: TopicRow): Static<typeof topicSchema> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    defaultOptIn: row.defaultOptIn === 1,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
