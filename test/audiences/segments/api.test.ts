import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiServer } from '../../../src/api.ts';
import type { Db } from '../../../src/db/database.ts';
import { nextSlice } from '../../../src/system/slices.ts';
import { listen, open } from '../../http/connection.ts';
import { conforming } from '../../support/conformance.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { waitUntil } from '../../support/wait-until.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const FILTER = { op: 'and', rules: [{ field: 'properties.plan', cmp: 'eq', value: 'pro' }] };

async function makeAudience(key = world.testKey): Promise<string> {
  const { status, body } = await world.request('POST', '/v1/audiences', { key, body: { name: 'readers' } });
  assert.equal(status, 201);
  return body.id;
}

async function makeContact(audienceId: string, body: object): Promise<string> {
  await clock.advance(1);
  const answer = await world.request('POST', `/v1/audiences/${audienceId}/contacts`, { body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.id;
}

const create = (body: unknown, key = world.testKey) => world.request('POST', '/v1/segments', { key, body });

const audienceId = await makeAudience();

test('a segment is created with its whole record, and retrieved the same with its contacts counted', async () => {
  const own = await makeAudience();
  await makeContact(own, { email: 'a@a.example', properties: { plan: 'PRO' } });
  await makeContact(own, { email: 'b@a.example', properties: { plan: 'free' } });
  const now = new Date(clock.now()).toISOString();
  const created = await create({
    name: 'Payers',
    audienceId: own,
    filter: { ...FILTER, op: 'AND' },
    more: 1,
  });
  const { id } = created.body;
  assert.match(id, /^seg_[0-9a-z]{26}$/);
  const record = { id, name: 'Payers', audienceId: own, filter: FILTER, createdAt: now, updatedAt: now };
  assert.deepEqual([created.status, created.body], [201, record]);
  for (const key of [world.testKey, world.liveKey]) {
    const got = await world.request('GET', `/v1/segments/${id}`, { key });
    assert.deepEqual([got.status, got.body], [200, { ...record, contactCount: 1 }]);
  }
});

const BAD: [name: string, change: object, param: string][] = [
  ['no name', { name: undefined }, 'name'],
  ['a name that is null', { name: null }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 201 characters', { name: 'ä'.repeat(201) }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['no audience', { audienceId: undefined }, 'audienceId'],
  ['no filter', { filter: undefined }, 'filter'],
  ['a filter that is null', { filter: null }, 'filter'],
  ['a filter that is a list', { filter: [FILTER] }, 'filter'],
  ['an empty filter', { filter: { op: 'and', rules: [] } }, 'filter.rules'],
  [
    'a deep comparison that is unknown',
    { filter: { op: 'or', rules: [{ op: 'or', rules: [{ field: 'email', cmp: '=' }] }] } },
    'filter.rules[0].rules[0].cmp',
  ],
  ['a field in another case', { Name: 'x' }, 'Name'],
];
for (const [name, change, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const body = { name: 'a', audienceId, filter: FILTER };
    const answers = [await create({ ...body, ...change })];
    if (!Object.values(change).includes(undefined)) {
      const { id } = (await create(body)).body;
      answers.push(await world.request('PATCH', `/v1/segments/${id}`, { body: change }));
    }
    for (const answer of answers) {
      const { type, param: blamed } = answer.body.error;
      assert.deepEqual([answer.status, type, blamed], [400, 'validation_error', param]);
    }
  });
}

test('a filter is tried before it is saved', async () => {
  const own = await makeAudience();
  await makeContact(own, { email: 'a@a.example', properties: { age: 41 } });
  await makeContact(own, { email: 'b@a.example', properties: { age: 7 } });
  const filter = { op: 'and', rules: [{ field: 'properties.age', cmp: 'gt', value: 40 }] };
  const body = { audienceId: own, filter };
  const counted = await world.request('POST', '/v1/segments/count', { body });
  assert.deepEqual([counted.status, counted.body], [200, { contactCount: 1 }]);
});

test('the list is narrowed by audience, and counts no contacts', async () => {
  const { testKey } = await world.addTenant('lister');
  const [first, second] = [await makeAudience(testKey), await makeAudience(testKey)];
  const ids: string[] = [];
  for (const audience of [first, second, first]) {
    await clock.advance(1);
    ids.unshift((await create({ name: 'a', audienceId: audience, filter: FILTER }, testKey)).body.id);
  }
  const list = async (query: string) => {
    const { body } = await world.request('GET', `/v1/segments?${query}`, { key: testKey });
    assert.ok(body.data.every((segment: object) => !('contactCount' in segment)));
    return [body.data.map(({ id }: { id: string }) => id), body.hasMore, body.nextCursor];
  };
  assert.deepEqual(await list(`audienceId=${first}`), [[ids[0], ids[2]], false, null]);
  assert.deepEqual(await list(`audienceId=${audienceId}`), [[], false, null]);
  assert.deepEqual(await list('audienceId=x'), [[], false, null]);
});

test('the contacts of a segment come in pages, newest first, both ways, as the audience shows them', async () => {
  const own = await makeAudience();
  const ids: string[] = [];
  for (let index = 0; index < 12; index++) {
    const body = { email: `c${index}@a.example`, properties: { plan: index % 2 ? 'pro' : 'free' } };
    const id = await makeContact(own, body);
    if (index % 2) ids.unshift(id);
  }
  const { id } = (await create({ name: 'a', audienceId: own, filter: FILTER })).body;
  const page = async (query: string) => {
    const { status, body } = await world.request('GET', `/v1/segments/${id}/contacts?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return [
      body.data.map((contact: { id: string }) => ids.indexOf(contact.id)),
      body.hasMore,
      ids.indexOf(body.nextCursor),
      ids.indexOf(body.previousCursor),
    ];
  };
  assert.deepEqual(await page(''), [[0, 1, 2, 3, 4, 5], false, -1, -1]);
  assert.deepEqual(await page('limit=6'), [[0, 1, 2, 3, 4, 5], false, -1, -1]);
  assert.deepEqual(await page('limit=2'), [[0, 1], true, 1, -1]);
  assert.deepEqual(await page(`limit=2&startingAfter=${ids[1]}`), [[2, 3], true, 3, 2]);
  assert.deepEqual(await page(`limit=9&startingAfter=${ids[3]}`), [[4, 5], false, -1, 4]);
  assert.deepEqual(await page(`limit=2&endingBefore=${ids[4]}`), [[2, 3], true, 3, 2]);
  assert.deepEqual(await page(`limit=9&endingBefore=${ids[2]}`), [[0, 1], false, 1, -1]);
  const [shown] = (await world.request('GET', `/v1/segments/${id}/contacts?limit=1`)).body.data;
  const contact = await world.request('GET', `/v1/audiences/${own}/contacts/${ids[0]}`);
  assert.deepEqual(shown, contact.body);
  const range = `createdAfter=${encodeURIComponent(shown.createdAt)}`;
  assert.deepEqual(await page(range), [[0], false, -1, -1]);
  assert.deepEqual((await page(range.replace('After', 'Before')))[0], [1, 2, 3, 4, 5]);
  for (const query of ['startingAfter=seg_1', `startingAfter=${ids[0]}&endingBefore=${ids[1]}`, 'limit=101'])
    assert.equal((await world.request('GET', `/v1/segments/${id}/contacts?${query}`)).status, 400);
});

for (const asked of ['retrieval', 'trial'] as const) {
  test(`a client that has left is counted nothing for (${asked})`, async () => {
    const id = (await create({ name: 'Payers', audienceId, filter: FILTER })).body.id;
    let slices = 0;
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const query: Db['query'] = async (read, input) => {
      slices += 1;
      await held;
      return world.app.db.query(read, input);
    };
    const server = conforming(await createApiServer({ ...world.app, db: { ...world.app.db, query } }));
    let [begun, ended] = [0, 0];
    server.server.on('request', (_request, response) => {
      begun += 1;
      response.once('close', () => {
        ended += 1;
      });
    });
    try {
      const port = await listen(server);
      const head = `Host: a\r\nAuthorization: Bearer ${world.testKey}\r\n`;
      const body = JSON.stringify({ audienceId, filter: FILTER });
      const bytes =
        asked === 'retrieval'
          ? `GET /v1/segments/${id} HTTP/1.1\r\n${head}\r\n`
          : `POST /v1/segments/count HTTP/1.1\r\n${head}Content-Type: application/json\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${body}`;
      const [waits, leaves] = [await open(port), await open(port)];
      waits.write(bytes);
      while ((await slices) < 1) await nextSlice();
      leaves.write(bytes);
      await waitUntil(() => begun === 2);
      leaves.socket.destroy();
      await waitUntil(() => ended === 1);
      goOn();
      const { status } = await waits.answer();
      assert.equal(status, 200);
      // The next one to ask comes after it in turn.
      waits.write(bytes);
      assert.equal((await waits.answer()).status, 200);
      assert.equal(slices, 2);
      waits.socket.destroy();
    } finally {
      await server.close();
    }
  });
}
