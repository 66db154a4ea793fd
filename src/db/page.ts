/** Cursor pages over time-ordered ids, newest first (specification 4.13, api.md 1.1). SQL side; HTTP's is http/page.ts. */
import { type SelectQueryBuilder, sql } from 'kysely';

export type PageRequest = {
  limit: number;
  /** Items older than this id. */
  startingAfter?: string;
  /** Items newer than this id. */
  endingBefore?: string;
};

export type Page<Item> = { items: Item[]; hasMore: boolean };

/** How a store asks: fetch `limit` rows in this direction from this cursor, exclusive. */
export type Slice = { direction: 'older' | 'newer'; cursor: string | undefined; limit: number };

/** Turns a slice reader into a page: one row more than asked tells whether there are more in the travelled direction. */
export async function readPage<Item>(
  request: PageRequest,
  readSlice: (slice: Slice) => Promise<Item[]>,
): Promise<Page<Item>> {
  const direction = request.endingBefore === undefined ? 'older' : 'newer';
  const cursor = request.endingBefore ?? request.startingAfter;
  const rows = await readSlice({ direction, cursor, limit: request.limit + 1 });
  const items = rows.slice(0, request.limit);
  if (direction === 'newer') items.reverse();
  return { items, hasMore: rows.length > request.limit };
}

/** A query for the rows of a slice, in its order. `id`: the column cursors are of. */
export function inSlice<Database, Table extends keyof Database, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  id: string,
  { direction, cursor, limit }: Slice,
): SelectQueryBuilder<Database, Table, Row> {
  const isOlder = direction === 'older';
  const ordered = query.orderBy(sql.ref(id), isOlder ? 'desc' : 'asc').limit(limit);
  return cursor === undefined ? ordered : ordered.where(sql.ref(id), isOlder ? '<' : '>', cursor);
}
