/**
 * Cursor pages over time-ordered ids, newest first (specification 4.13). This file has the SQL side; http/json/page.ts has
 * the HTTP side.
 */
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

/** The rows that a store reads: `limit` rows in this direction, starting after the cursor. */
export type Slice = {
  direction: 'older' | 'newer';
  cursor: string | undefined;
  limit: number;
  from: string | undefined;
  until: string | undefined;
};

/** Reads a page. It reads one row more than requested to find out whether there are more in that direction. */
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

/** Some items of a slice, and the part of it that was not examined; undefined when everything was. */
export type Part<Item> = { items: Item[]; rest: Slice | undefined };

/**
 * Reads a page in parts, so that other reads run in between. When `gone` is aborted, it rejects with the reason of the
 * abort before the next part.
 */
export function readPageInParts<Item>(
  request: PageRequest,
  gone: AbortSignal | undefined,
  readPart: (slice: Slice) => Promise<Part<Item>>,
): Promise<Page<Item>> {
  return readPage(request, async (whole) => {
    const found: Item[] = [];
    let rest: Slice | undefined = whole;
    while (rest && found.length < whole.limit) {
      gone?.throwIfAborted();
      const part: Part<Item> = await readPart({ ...rest, limit: whole.limit - found.length });
      found.push(...part.items);
      rest = part.rest;
    }
    return found;
  });
}

/** Returns the part of a slice before an id, and the part that begins with it. */
export function splitSlice(slice: Slice, id: string): [Slice, Slice] {
  return slice.direction === 'older'
    ? [
        { ...slice, from: id },
        { ...slice, cursor: id },
      ]
    : [
        { ...slice, until: id },
        { ...slice, cursor: undefined, from: id },
      ];
}

/**
 * Returns the query for the rows of a slice, in its order. `id` names the column that cursors refer to. The bounds
 * are marked `likely`: SQLite otherwise expects two bounds to exclude so many rows that it chooses an index without
 * the column of a filter, and then reads all the rows that the filter excludes.
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

/**
 * Returns at most one bound for each side. With two, SQLite may use either for its index and read all rows up to the
 * other.
 */
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
