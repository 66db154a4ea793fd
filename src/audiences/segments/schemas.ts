/** Shapes of the segments API (specification 2.7 and 4.6, api.md 1.6). What a filter means is checked in filter.ts. */
import { type Static, type TSchema, Type } from 'typebox';
import type { SegmentRow } from '../../db/marketing-tables.ts';
import { pageSchema } from '../../http/page.ts';
import { PLAIN_TEXT } from '../../http/plain-text.ts';
import { isoTime } from '../../system/clock.ts';
import { contactSchema } from '../contacts/schemas.ts';
import { COMPARISONS } from './field.ts';
import { type Filter, MAX_DAYS, MAX_DEPTH, MAX_RULES, MAX_VALUES } from './filter.ts';

/** api.md 1.10. */
const MAX_NAME_CHARACTERS = 200;

const name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: PLAIN_TEXT });

const op = Type.String({
  description: '`and`: all of the rules hold; `or`: at least one does. In any case: `AND`.',
});

const rule = {
  field: Type.Optional(
    Type.String({
      description:
        '`email`, `firstName`, `lastName`, `unsubscribed`, `createdAt`, `topics.<id>` or `properties.<key>`.',
    }),
  ),
  cmp: Type.Optional(Type.Enum([...COMPARISONS])),
  value: Type.Optional(
    Type.Unknown({
      description:
        `What to compare with: a string, number or boolean; for \`in\` and \`not_in\` a list of up to ${MAX_VALUES} ` +
        'of them; for `before` and `after` an ISO 8601 time with an offset; for `within_days` a number of days up to ' +
        `${MAX_DAYS}; for \`exists\` and \`not_exists\` nothing.`,
    }),
  ),
};

/** A rule, or a group of rules for as long as there may be deeper ones: one schema for both, so that it blames the field. */
function itemSchema(depth: number): TSchema {
  if (depth === MAX_DEPTH) return Type.Object(rule);
  const rules = Type.Array(itemSchema(depth + 1), {
    description: 'Instead of the fields of a rule: a group.',
  });
  return Type.Object({ ...rule, op: Type.Optional(op), rules: Type.Optional(rules) });
}

const ABOUT_FILTER = [
  `A tree of at most ${MAX_RULES} rules, ${MAX_DEPTH} levels deep.`,
  'Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as',
  '`12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`.',
  'A property that is missing answers to `ne`, `not_contains`, `not_in` and `not_exists`, and to nothing else.',
].join(' ');

const filter = Type.Unsafe<Filter>(
  Type.Object({ op, rules: Type.Array(itemSchema(1)) }, { description: ABOUT_FILTER }),
);

const EXAMPLE_FILTER: Filter = {
  op: 'and',
  rules: [
    { field: 'unsubscribed', cmp: 'eq', value: false },
    { field: 'properties.plan', cmp: 'in', value: ['pro', 'team'] },
    { op: 'or', rules: [{ field: 'properties.seats', cmp: 'gte', value: 10 }] },
  ],
};
const AUDIENCE_ID = 'aud_01khq3z5vgxw1r8t6n2m4c9b7d';
const EXAMPLE = { name: 'Larger teams', audienceId: AUDIENCE_ID, filter: EXAMPLE_FILTER };

const audienceId = Type.String({ description: 'The audience it is a part of.' });

export const newSegmentSchema = Type.Object({ name, audienceId, filter }, { examples: [EXAMPLE] });

export const segmentChangeSchema = Type.Object(
  { name: Type.Optional(name), filter: Type.Optional(filter) },
  { examples: [{ name: 'Teams of ten and more' }] },
);

const ABOUT_COUNT = 'Contacts there are now, the unsubscribed among them.';

export const segmentSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    audienceId,
    filter,
    contactCount: Type.Optional(
      Type.Integer({ description: `${ABOUT_COUNT} Counted when the segment is retrieved.` }),
    ),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  {
    title: 'Segment',
    examples: [
      {
        id: 'seg_01khq3z5vgxw1r8t6n2m4c9b7d',
        ...EXAMPLE,
        contactCount: 128,
        createdAt: '2026-03-01T09:00:00.000Z',
        updatedAt: '2026-03-01T09:00:00.000Z',
      },
    ],
  },
);

/** `contactCount`: where it was counted. */
export type SegmentView = SegmentRow & { contactCount?: number };

export function showSegment(segment: SegmentView): Static<typeof segmentSchema> {
  return {
    id: segment.id,
    name: segment.name,
    audienceId: segment.audienceId,
    filter: JSON.parse(segment.filter) as Filter,
    ...(segment.contactCount !== undefined && { contactCount: segment.contactCount }),
    createdAt: isoTime(segment.createdAt),
    updatedAt: isoTime(segment.updatedAt),
  };
}

export const trialSchema = Type.Object(
  { audienceId, filter },
  { examples: [{ audienceId: AUDIENCE_ID, filter: EXAMPLE_FILTER }] },
);

export const countSchema = Type.Object(
  { contactCount: Type.Integer({ description: ABOUT_COUNT }) },
  { title: 'ContactCount', examples: [{ contactCount: 128 }] },
);

const page = pageSchema(contactSchema);

export const segmentContactsSchema = Type.Object(
  {
    ...page.properties,
    hasMore: Type.Boolean({
      description:
        'There are more contacts to look at in the direction of travel, also when this page is short or empty.',
    }),
    previousCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'For `endingBefore`: leads to newer contacts. Null when there are none.',
    }),
  },
  {
    examples: [
      { data: [], hasMore: true, nextCursor: 'ct_01khq3z5vgxw1r8t6n2m4c9b7d', previousCursor: null },
    ],
  },
);
