import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiKey } from '../../src/tenants/keys.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const create = (body: unknown, key = world.testKey) => world.request('POST', '/v1/topics', { key, body });

test('a topic is created with its whole record, and retrieved the same with either key', async () => {
  const created = await create({ name: 'News', description: 'Once a week', defaultOptIn: false });
  assert.equal(created.status, 201);
  const { id } = created.body;
  assert.match(id, /^top_[0-9a-z]{26}$/);
  const createdAt = new Date(NOW).toISOString();
  assert.deepEqual(created.body, {
    id,
    name: 'News',
    description: 'Once a week',
    defaultOptIn: false,
    createdAt,
    updatedAt: createdAt,
  });
  for (const key of [world.testKey, world.liveKey]) {
    const got = await world.request('GET', `/v1/topics/${id}`, { key });
    assert.deepEqual([got.status, got.body], [200, created.body]);
  }
});

test('readers are opted in and there is no description unless it is said', async () => {
  for (const body of [{ name: 'a' }, { name: 'a', description: null, unknown: 1 }]) {
    const { status, body: topic } = await create(body);
    assert.deepEqual([status, topic.description, topic.defaultOptIn], [201, null, true]);
  }
});

const BAD: [name: string, body: unknown, param: string | undefined][] = [
  ['no body', undefined, undefined],
  ['no name', {}, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name that is a number', { name: 1 }, 'name'],
  ['a name of 51 characters', { name: 'ä'.repeat(51) }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['a name with a lone surrogate', { name: 'a\ud800' }, 'name'],
  ['a description of 201 characters', { name: 'a', description: 'x'.repeat(201) }, 'description'],
  ['a description with a NUL', { name: 'a', description: '\0' }, 'description'],
  ['a default that is text', { name: 'a', defaultOptIn: 'true' }, 'defaultOptIn'],
  ['a default that is null', { name: 'a', defaultOptIn: null }, 'defaultOptIn'],
  ['a field spelt in snake case', { name: 'a', default_opt_in: false }, 'default_opt_in'],
];
for (const [name, body, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const answer = await create(body);
    assert.deepEqual(
      [answer.status, answer.body.error.type, answer.body.error.param],
      [400, 'validation_error', param],
    );
  });
}

test('the longest name and description are accepted, astral characters counted once', async () => {
  const body = { name: '😀'.repeat(50), description: 'é'.repeat(200) };
  const answer = await create(body);
  assert.deepEqual(
    [answer.status, answer.body.name, answer.body.description],
    [201, body.name, body.description],
  );
});

test('the list is newest first, in pages, both ways, and of this tenant alone', async () => {
  const { testKey } = await world.addTenant('lister');
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    await clock.advance(1);
    ids.unshift((await create({ name }, testKey)).body.id);
  }
  const list = async (query: string) => {
    const { body } = await world.request('GET', `/v1/topics?${query}`, { key: testKey });
    return [body.data.map(({ id }: { id: string }) => id), body.hasMore, body.nextCursor];
  };
  assert.deepEqual(await list(''), [ids, false, null]);
  assert.deepEqual(await list('limit=2'), [ids.slice(0, 2), true, ids[1]]);
  assert.deepEqual(await list(`limit=2&startingAfter=${ids[1]}`), [ids.slice(2), false, null]);
  assert.deepEqual(await list(`limit=1&endingBefore=${ids[2]}`), [[ids[1]], true, ids[1]]);
  const both = await world.request('GET', `/v1/topics?startingAfter=${ids[0]}&endingBefore=${ids[1]}`);
  assert.equal(both.status, 400);
  const foreign = await world.request('GET', '/v1/topics?startingAfter=tpl_1');
  assert.deepEqual([foreign.status, foreign.body.error.param], [400, 'startingAfter']);
});

test('a tenant has at most 100 topics, another its own', async () => {
  const { testKey } = await world.addTenant('collector');
  for (let count = 0; count < 100; count++) assert.equal((await create({ name: 'a' }, testKey)).status, 201);
  const refused = await create({ name: 'a' }, testKey);
  assert.deepEqual([refused.status, refused.body.error.type], [400, 'validation_error']);
  assert.match(refused.body.error.message, /100 topics/);
  assert.equal((await create({ name: 'a' })).status, 201);
});

test('a sending key may not see or make topics, a reading key may only see them', async () => {
  const keyWith = async (permission: 'sending_access' | 'read_only') => {
    const key = {
      tenantId: world.tenantId,
      name: permission,
      mode: 'test',
      permission,
      expiresAt: null,
    } as const;
    return (await createApiKey(world.app, key)).token;
  };
  const [sending, reading] = [await keyWith('sending_access'), await keyWith('read_only')];
  const { id } = (await create({ name: 'a' })).body;
  for (const path of ['/v1/topics', `/v1/topics/${id}`]) {
    assert.equal((await world.request('GET', path, { key: sending })).status, 403);
    assert.equal((await world.request('GET', path, { key: reading })).status, 200);
  }
  for (const key of [sending, reading]) assert.equal((await create({ name: 'a' }, key)).status, 403);
});
