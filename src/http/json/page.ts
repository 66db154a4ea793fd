/** Pagination of every list (specification 4.13 and 2.12): the query, its checks, and the envelope. */
import { type TSchema, Type } from 'typebox';
import { parseTimestamp } from '../../system/clock.ts';
import { invalid } from '../../system/errors.ts';
import { firstIdAt, isId } from '../../system/ids.ts';

const DEFAULT_PAGE_SIZE = 20;
/** Maximum number of items on a page (specification 4.13). */
const MAX_ITEMS = 100;

/** The part of the query that selects items by the time at which they were created. */
export const timeQuery = {
  createdAfter: Type.Optional(
    Type.String({ description: 'Time in ISO 8601 with an offset; only items created then or later.' }),
  ),
  createdBefore: Type.Optional(
    Type.String({ description: 'Time in ISO 8601 with an offset; only items created before it.' }),
  ),
};

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ITEMS,
      default: DEFAULT_PAGE_SIZE,
      description: 'Number of items on the page.',
    }),
  ),
  startingAfter: Type.Optional(Type.String({ description: 'Id of an item; the page contains older items.' })),
  endingBefore: Type.Optional(Type.String({ description: 'Id of an item; the page contains newer items.' })),
  ...timeQuery,
};

export type PageQuery = {
  limit?: number;
  startingAfter?: string;
  endingBefore?: string;
  createdAfter?: string;
  createdBefore?: string;
};

/** Returns the schema of a page of items. Its example contains the item's example. */
export function pageSchema<Item extends TSchema>(item: Item) {
  return Type.Object(
    {
      data: Type.Array(item),
      hasMore: Type.Boolean({ description: 'True when more items follow in the direction of the list.' }),
      nextCursor: Type.Union([Type.String(), Type.Null()], {
        description: 'Cursor for `startingAfter`, which leads to older items. Null when there are none.',
      }),
    },
    { examples: [{ data: examplesOf(item).slice(0, 1), hasMore: false, nextCursor: null }] },
  );
}

function examplesOf(schema: TSchema): readonly unknown[] {
  return 'examples' in schema && Array.isArray(schema.examples) ? schema.examples : [];
}

/**
 * Returns the checked query.
 * @throws AppError validation_error for two cursors, a cursor that is not an id of this list, or an invalid time
 */
export function pageRequest(query: PageQuery, prefix: string) {
  const { startingAfter, endingBefore } = query;
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw invalid('endingBefore', '`endingBefore` cannot be combined with `startingAfter`');
  }
  for (const [param, cursor] of Object.entries({ startingAfter, endingBefore })) {
    if (cursor !== undefined && !isId(prefix, cursor)) {
      throw invalid(param, `\`${param}\` must be an id that starts with ${prefix}_`);
    }
  }
  return {
    limit: query.limit ?? DEFAULT_PAGE_SIZE,
    ...(startingAfter !== undefined && { startingAfter }),
    ...(endingBefore !== undefined && { endingBefore }),
    ...idRange(query, prefix),
  };
}

/**
 * Returns the range of ids that times select. Ids sort by time, so a range of time is a range of ids and needs no index of its own.
 * @throws AppError validation_error
 */
export function idRange(
  { createdAfter, createdBefore }: Pick<PageQuery, 'createdAfter' | 'createdBefore'>,
  prefix: string,
) {
  return {
    ...(createdAfter !== undefined && {
      from: firstIdAt(prefix, readTime('createdAfter', createdAfter)),
    }),
    ...(createdBefore !== undefined && {
      until: firstIdAt(prefix, readTime('createdBefore', createdBefore)),
    }),
  };
}

/**
 * Returns a time of a query in Unix milliseconds.
 * @throws AppError validation_error
 */
export function readTime(param: string, text: string): number {
  const time = parseTimestamp(text);
  if (time !== undefined) return time;
  throw invalid(param, `\`${param}\` must be an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z`);
}

/**
 * Returns the list envelope. `hasMore` refers to the travelled direction. `nextCursor` leads to older items, which
 * certainly exist when the page was reached from one of them.
 */
export function listEnvelope<Row extends { id: string }, Item>(
  query: PageQuery,
  page: { items: readonly Row[]; hasMore: boolean },
  show: (row: Row) => Item,
) {
  const last = page.items.at(-1);
  const olderExist = query.endingBefore !== undefined || page.hasMore;
  return {
    data: page.items.map(show),
    hasMore: page.hasMore,
    nextCursor: olderExist && last ? last.id : null,
  };
}
