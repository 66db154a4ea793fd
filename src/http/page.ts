/** Pagination of every list (specification 4.13 and 2.12): the query, its checks, the envelope. */
import { type TSchema, Type } from 'typebox';
import { AppError } from '../system/errors.ts';
import { type IdPrefix, isId } from '../system/ids.ts';

const DEFAULT_LIMIT = 20;
const MOST_ITEMS = 100;

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_ITEMS,
      default: DEFAULT_LIMIT,
      description: 'Items on the page.',
    }),
  ),
  startingAfter: Type.Optional(Type.String({ description: 'Id; the page holds items older than it.' })),
  endingBefore: Type.Optional(Type.String({ description: 'Id; the page holds items newer than it.' })),
};

export type PageQuery = { limit?: number; startingAfter?: string; endingBefore?: string };

export function pageSchema<Item extends TSchema>(item: Item) {
  return Type.Object({
    data: Type.Array(item),
    hasMore: Type.Boolean(),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  });
}

/** @throws AppError validation_error for two cursors at once, or one that is not an id of this list */
export function pageRequest(query: PageQuery, prefix: IdPrefix) {
  const { startingAfter, endingBefore } = query;
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw badCursor('endingBefore', '`endingBefore` cannot be combined with `startingAfter`');
  }
  for (const [param, cursor] of Object.entries({ startingAfter, endingBefore })) {
    if (cursor !== undefined && !isId(prefix, cursor)) {
      throw badCursor(param, `\`${param}\` must be an id that starts with ${prefix}_`);
    }
  }
  return {
    limit: query.limit ?? DEFAULT_LIMIT,
    ...(startingAfter !== undefined && { startingAfter }),
    ...(endingBefore !== undefined && { endingBefore }),
  };
}

function badCursor(param: string, message: string): AppError {
  return new AppError('validation_error', message, { param, issues: [{ path: param, message }] });
}

/**
 * The list envelope. `hasMore` speaks of the travelled direction; `nextCursor` is for going on to older items, and they
 * exist for certain when the page was reached from one of them.
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
