/** Schemas of the segments API (specification 2.7 and 4.6). `filter.ts` checks the meaning of a filter. */
import { type Static, type TSchema, Type } from 'typebox';
import type { SegmentRow } from '../../db/marketing-tables.ts';
import { pageSchema } from '../../http/json/page.ts';
import { PLAIN_TEXT } from '../../http/json/plain-text.ts';
import { isoTime } from '../../system/clock.ts';
import { contactSchema } from '../contacts/schemas.ts';
import { COLUMN_FIELDS, COMPARISONS } from './field.ts';
import { type Filter, MAX_DAYS, MAX_DEPTH, MAX_RULES, MAX_VALUES } from './filter.ts';

/** Maximum length of a name. */
const MAX_NAME_CHARACTERS = 200;

const name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: PLAIN_TEXT });

const op = Type.String({
  description:
    '`and`: all rules must hold; `or`: at least one must hold. Letters may have any case, as in `AND`.',
});

const rule = {
  field: Type.Optional(
    Type.String({
      description:
        `${COLUMN_FIELDS.map((name) => `\`${name}\``).join(', ')}, \`topics.<id>\` or ` +
        '`properties.<key>`.',
    }),
  ),
  cmp: Type.Optional(Type.Enum([...COMPARISONS])),
  value: Type.Optional(
    Type.Unknown({
      description:
        `Value to compare with: a string, number or boolean; for \`in\` and \`not_in\` a list of up to ${MAX_VALUES} ` +
        'of them; for `before` and `after` a date such as 2026-01-31, whose day in UTC is neither before nor after it, or an ISO 8601 time with an offset; for `within_days` and `not_within_days` a number of days up to ' +
        `${MAX_DAYS}; for \`delivered\`, \`opened\` and \`clicked\` otherwise the id of a broadcast; for \`exists\` and \`not_exists\` nothing.`,
    }),
  ),
};

/**
 * Returns the schema of a rule or of a group of rules; the deepest level allows only rules. Both share one schema, so that
 * a refusal names the wrong field instead of the whole item.
 */
function itemSchema(depth: number): TSchema {
  if (depth === MAX_DEPTH) return Type.Object(rule);
  const rules = Type.Array(itemSchema(depth + 1), {
    description: 'Rules of a group. A group has `op` and `rules` instead of the fields of a rule.',
  });
  return Type.Object({ ...rule, op: Type.Optional(op), rules: Type.Optional(rules) });
}

const ABOUT_FILTER = [
  `A tree of at most ${MAX_RULES} rules, ${MAX_DEPTH} levels deep.`,
  'Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as',
  '`12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`.',
  'A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else.',
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

const audienceId = Type.String({ description: 'The audience that the segment belongs to.' });

export const newSegmentSchema = Type.Object({ name, audienceId, filter }, { examples: [EXAMPLE] });

export const segmentChangeSchema = Type.Object(
  { name: Type.Optional(name), filter: Type.Optional(filter) },
  { examples: [{ name: 'Teams of ten and more' }] },
);

const ABOUT_COUNT = 'Number of contacts now, unsubscribed ones included.';

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

/** A segment to be shown. `contactCount` is present when the contacts were counted. */
export type SegmentView = SegmentRow & { contactCount?: number };

/** Returns a segment as the API shows it. */
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

export const countRequestSchema = Type.Object(
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
        'True when more contacts follow in the direction of the list, also when this page is short or empty.',
    }),
    previousCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Cursor for `endingBefore`, which leads to newer contacts. Null when there are none.',
    }),
  },
  {
    examples: [
      { data: [], hasMore: true, nextCursor: 'ct_01khq3z5vgxw1r8t6n2m4c9b7d', previousCursor: null },
    ],
  },
);
