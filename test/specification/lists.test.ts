/** Every list of the specification pages alike (specification 2.12 and 4.13), on the whole API. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { openPopulated } from '../support/resources/populated.ts';
import { fillPath, ROWS } from '../support/resources/resources.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openPopulated({ clock });
const { owner } = world;
after(() => world.close());

const ITEMS = 23;
const LISTS = ROWS.flatMap(({ path, prefix, isKept }) =>
  path === undefined ? [] : [{ path, isKept, make: () => world.make(owner, prefix) }],
);

function urlOf(path: string): string {
  return fillPath(path, world.wanted(owner).ids);
}

async function get(url: string) {
  const { statusCode, body } = await world.ask(owner, { method: 'GET', url });
  return { status: statusCode, body: JSON.parse(body) };
}

type Page = { data: { id: string }[]; hasMore: boolean; nextCursor: string | null };

for (const { path, isKept, make } of LISTS) {
  test(`GET ${path} pages as every list does`, async () => {
    for (let number = 0; number < ITEMS; number++) {
      await clock.advance(1);
      await make();
    }
    const url = urlOf(path);
    const list = async (query: string) => {
      const { status, body } = await get(`${url}?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(Object.keys(body).sort(), ['data', 'hasMore', 'nextCursor']);
      const { data, hasMore, nextCursor } = body as Page;
      return { ids: data.map(({ id }) => id), hasMore, nextCursor };
    };
    const { ids } = await list('limit=100');
    const { createdAt } = (await get(`${url}?startingAfter=${ids[4]}&limit=1`)).body.data[0];
    const time = encodeURIComponent(createdAt);
    assert.deepEqual((await list(`createdAfter=${time}`)).ids, ids.slice(0, 6), 'from that time on');
    assert.deepEqual((await list(`createdBefore=${time}&limit=3`)).ids, ids.slice(6, 9), 'before that time');
    assert.ok(ids.length >= ITEMS && ids.length < 100);
    assert.deepEqual(ids, ids.toSorted().toReversed(), 'newest first');
    assert.deepEqual(await list(''), { ids: ids.slice(0, 20), hasMore: true, nextCursor: ids[19] });
    const walked: string[] = [];
    for (let next: string | null | undefined; next !== null; ) {
      const page = await list(next === undefined ? 'limit=9' : `limit=9&startingAfter=${next}`);
      walked.push(...page.ids);
      assert.equal(page.hasMore, page.nextCursor !== null);
      next = page.nextCursor;
    }
    assert.deepEqual(walked, ids, 'each once, and to the end');
    assert.deepEqual((await list(`startingAfter=${ids[4]}&limit=3`)).ids, ids.slice(5, 8));
    const back = { ids: ids.slice(1, 4), hasMore: true, nextCursor: ids[3] };
    assert.deepEqual(await list(`endingBefore=${ids[4]}&limit=3`), back);
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      [`startingAfter=${ids[0]}&endingBefore=${ids[4]}`, 'endingBefore'],
    ]) {
      const { status, body } = await get(`${url}?${query}`);
      assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', param], query);
    }
    await clock.advance(1);
    const newest = await make();
    if (!isKept)
      for (const id of [ids[8], ids[12]])
        assert.equal((await world.ask(owner, { method: 'DELETE', url: `${url}/${id}` })).statusCode, 204);
    const left = isKept ? ids : ids.toSpliced(12, 1);
    const stable = 'though one has come, and the cursor is gone';
    assert.deepEqual((await list(`startingAfter=${ids[8]}&limit=9`)).ids, left.slice(9, 18), stable);
    const newer = await list(`endingBefore=${ids[8]}&limit=100`);
    assert.deepEqual(newer.ids, [newest, ...ids.slice(0, 8)], stable);
  });
}

test('every item says in ISO 8601 when it was made', async () => {
  for (const { path, make } of LISTS) {
    await clock.advance(1_001);
    await make();
    const { body } = await get(`${urlOf(path)}?limit=1`);
    const [{ createdAt }] = body.data;
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, path);
    assert.equal(Date.parse(createdAt), clock.now(), path);
  }
});
