/** Shapes of the topics API (specification 2.8 and 4.9, api.md 1.6). */
import { type Static, Type } from 'typebox';
import type { TopicRow } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';

/** api.md 1.6. */
const MOST_NAME_CHARACTERS = 50;
const MOST_DESCRIPTION_CHARACTERS = 200;

/** Neither control characters (C0, DEL) nor lone surrogates: both are shown to people. */
const PLAIN_TEXT = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$';

export const newTopicSchema = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: MOST_NAME_CHARACTERS,
    pattern: PLAIN_TEXT,
    description: 'For you; readers do not see it.',
  }),
  description: Type.Optional(
    Type.Union([Type.String({ maxLength: MOST_DESCRIPTION_CHARACTERS, pattern: PLAIN_TEXT }), Type.Null()], {
      description: 'Shown on preference pages.',
    }),
  ),
  defaultOptIn: Type.Optional(
    Type.Boolean({ description: 'Whether a reader who chose nothing gets this mail; default true.' }),
  ),
});
export type NewTopic = Static<typeof newTopicSchema>;

export const topicSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    defaultOptIn: Type.Boolean(),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  { description: 'Topic' },
);

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
