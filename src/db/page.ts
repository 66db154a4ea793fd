/** Cursor pages over time-ordered ids, newest first (specification 4.13, api.md 1.1). SQL side; HTTP's is http/page.ts. */
import { type SelectQueryBuilder, sql } from 'kysely';

export type PageRequest = {
  limit: number;
  /** Items older than this id. */
  startingAfter?: string;
  /** Items newer than this id. */
  endingBefore?: string;
  /** Items of this id or newer ones. */
  from?: string;
  /** Items older than this id. */
  until?: string;
};

export type Page<Item> = { items: Item[]; hasMore: boolean };

/** How a store asks: fetch `limit` rows in this direction from this cursor, exclusive. */
export type Slice = {
  direction: 'older' | 'newer';
  cursor: string | undefined;
  limit: number;
  from: string | undefined;
  until: string | undefined;
};

/** Turns a slice reader into a page: one row more than asked tells whether there are more in the travelled direction. */
export async function readPage<Item>(
  request: PageRequest,
  readSlice: (slice: Slice) => Promise<Item[]>,
): Promise<Page<Item>> {
  const direction = request.endingBefore === undefined ? 'older' : 'newer';
  const cursor = request.endingBefore ?? request.startingAfter;
  const { from, until } = request;
  const rows = await readSlice({ direction, cursor, limit: request.limit + 1, from, until });
  const items = rows.slice(0, request.limit);
  if (direction === 'newer') items.reverse();
  return { items, hasMore: rows.length > request.limit };
}

/**
 * A query for the rows of a slice, in its order. `id`: the column cursors are of. Its bounds are `likely`: of two, SQLite
 * would otherwise expect so much that it takes an index without the column of a filter, and reads past what is filtered.
 */
export function inSlice<Database, Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  id: string,
  slice: Slice,
): SelectQueryBuilder<Database, Table, Row> {
  return boundsOf(slice).reduce(
    (bounded, [operator, bound]) =>
      bounded.where(sql<boolean>`likely(${sql.ref(id)} ${sql.raw(operator)} ${bound})`),
    query.orderBy(sql.ref(id), slice.direction === 'older' ? 'desc' : 'asc').limit(slice.limit),
  );
}

type Bound = ['<' | '>' | '>=', string];

/** At most one for each side: of two, SQLite would take either for its index, and read through to the other. */
function boundsOf({ direction, cursor, from, until }: Slice): Bound[] {
  const upper = [until, direction === 'older' ? cursor : undefined].filter((bound) => bound !== undefined);
  const lowest = upper.toSorted()[0];
  const after = direction === 'newer' ? cursor : undefined;
  const lower: Bound[] =
    after !== undefined && (from === undefined || after >= from)
      ? [['>', after]]
      : from !== undefined
        ? [['>=', from]]
        : [];
  return lowest === undefined ? lower : [...lower, ['<', lowest]];
}
