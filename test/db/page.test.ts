import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { inSlice, type PageRequest, readPage, type Slice } from '../../src/db/page.ts';

/** A list as a table with an index would give it: ids above or below the cursor, nearest to it first. */
function listOf(ids: readonly string[]) {
  const newestFirst = ids.toSorted().reverse();
  const readSlice = async ({ direction, cursor, limit }: Slice) =>
    (direction === 'older'
      ? newestFirst.filter((id) => cursor === undefined || id < cursor)
      : newestFirst.filter((id) => cursor === undefined || id > cursor).reverse()
    ).slice(0, limit);
  return (request: PageRequest) => readPage(request, readSlice);
}

const page = listOf(['a', 'b', 'c', 'd', 'e']);

test('the first page holds the newest, and says whether older ones follow', async () => {
  assert.deepEqual(await page({ limit: 2 }), { items: ['e', 'd'], hasMore: true });
  assert.deepEqual(await page({ limit: 5 }), { items: ['e', 'd', 'c', 'b', 'a'], hasMore: false });
});

test('startingAfter goes on to older items, without the cursor itself', async () => {
  assert.deepEqual(await page({ limit: 2, startingAfter: 'd' }), { items: ['c', 'b'], hasMore: true });
  assert.deepEqual(await page({ limit: 2, startingAfter: 'c' }), { items: ['b', 'a'], hasMore: false });
  assert.deepEqual(await page({ limit: 2, startingAfter: 'a' }), { items: [], hasMore: false });
});

test('endingBefore goes back to the nearest newer items, still newest first', async () => {
  assert.deepEqual(await page({ limit: 2, endingBefore: 'b' }), { items: ['d', 'c'], hasMore: true });
  assert.deepEqual(await page({ limit: 2, endingBefore: 'c' }), { items: ['e', 'd'], hasMore: false });
  assert.deepEqual(await page({ limit: 2, endingBefore: 'e' }), { items: [], hasMore: false });
});

const items = new Kysely<{ items: { id: string } }>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

test('a query for a slice asks for no more than its rows, nearest to the cursor first', () => {
  const query = (direction: Slice['direction'], cursor?: string) => {
    const slice = { direction, cursor, limit: 7, from: undefined, until: undefined };
    return inSlice(items.selectFrom('items').select('id'), 'items.id', slice).compile();
  };
  const from = 'select "id" from "items"';
  assert.equal(query('older').sql, `${from} order by "items"."id" desc limit ?`);
  const older = query('older', 'x');
  assert.equal(older.sql, `${from} where likely("items"."id" < ?) order by "items"."id" desc limit ?`);
  assert.deepEqual(older.parameters, ['x', 7]);
  const newer = query('newer', 'x');
  assert.equal(newer.sql, `${from} where likely("items"."id" > ?) order by "items"."id" asc limit ?`);
});

test('a range of ids and a cursor become one bound on each side, the tighter one', () => {
  const bounds = (slice: Partial<Slice>) => {
    const whole = {
      direction: 'older',
      cursor: undefined,
      limit: 7,
      from: undefined,
      until: undefined,
    } as const;
    const { sql, parameters } = inSlice(items.selectFrom('items').select('id'), 'id', {
      ...whole,
      ...slice,
    }).compile();
    return [
      sql
        .match(/"id" (<|>=?) \?/g)
        ?.map((bound) => bound.slice(5, -2))
        .join(' ') ?? '',
      ...parameters.slice(0, -1),
    ];
  };
  assert.deepEqual(bounds({ from: 'b', until: 'y' }), ['>= <', 'b', 'y']);
  assert.deepEqual(bounds({ from: 'b', until: 'y', cursor: 'm' }), ['>= <', 'b', 'm']);
  assert.deepEqual(bounds({ from: 'b', until: 'y', cursor: 'z' }), ['>= <', 'b', 'y']);
  assert.deepEqual(bounds({ direction: 'newer', from: 'b', until: 'y', cursor: 'm' }), ['> <', 'm', 'y']);
  assert.deepEqual(bounds({ direction: 'newer', from: 'b', until: 'y', cursor: 'a' }), ['>= <', 'b', 'y']);
  assert.deepEqual(bounds({ direction: 'newer', cursor: 'b', from: 'b' }), ['>', 'b']);
});

test('walking either way meets every item once, also when the cursor and others are deleted on the way', async () => {
  const ids = Array.from({ length: 23 }, (_, index) => `i${String(index).padStart(2, '0')}`);
  const older = await listOf(ids)({ limit: 7 });
  const cursor = older.items.at(-1) ?? '';
  const left = listOf(ids.filter((id) => id !== cursor && id !== 'i10'));
  const rest: string[] = [];
  for (let next: string | undefined = cursor; next !== undefined; ) {
    const { items, hasMore } = await left({ limit: 7, startingAfter: next });
    rest.push(...items);
    next = hasMore ? items.at(-1) : undefined;
  }
  assert.deepEqual(
    [...older.items, ...rest],
    ids.toReversed().filter((id) => id !== 'i10'),
  );
  const back = await left({ limit: 100, endingBefore: cursor });
  assert.deepEqual(back, { items: older.items.slice(0, -1), hasMore: false });
});
