import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findAudience } from '../../src/audiences/store.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestMethod } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const create = (body: unknown, key = world.testKey) => world.request('POST', '/v1/audiences', { key, body });
const item = (method: TestMethod, id: string, body?: unknown, key = world.testKey) =>
  world.request(method, `/v1/audiences/${id}`, { key, body });

test('an audience is created with its whole record, and retrieved the same with either key', async () => {
  const created = await create({ name: 'Readers', unknown: 1 });
  assert.equal(created.status, 201);
  const { id } = created.body;
  assert.match(id, /^aud_[0-9a-z]{26}$/);
  const createdAt = new Date(clock.now()).toISOString();
  assert.deepEqual(created.body, { id, name: 'Readers', contactCount: 0, createdAt, updatedAt: createdAt });
  for (const key of [world.testKey, world.liveKey]) {
    const got = await item('GET', id, undefined, key);
    assert.deepEqual([got.status, got.body], [200, created.body]);
  }
});

const BAD: [name: string, body: unknown, param: string | undefined][] = [
  ['no body', undefined, undefined],
  ['no name', {}, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name that is a number', { name: 1 }, 'name'],
  ['a name of 201 characters', { name: 'ä'.repeat(201) }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['a name with a NUL', { name: '\0' }, 'name'],
  ['a name with a lone surrogate', { name: 'a\ud800' }, 'name'],
];
for (const [name, body, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const { id } = (await create({ name: 'a' })).body;
    const answers = [await create(body)];
    // A change may leave it out.
    if (name !== 'no name') answers.push(await item('PATCH', id, body));
    for (const answer of answers) {
      const { type, param: blamed } = answer.body.error;
      assert.deepEqual([answer.status, type, blamed], [400, 'validation_error', param]);
    }
  });
}

test('a name may be changed, and nothing else', async () => {
  const { id, createdAt } = (await create({ name: 'before' })).body;
  await clock.advance(1_000);
  const updatedAt = new Date(clock.now()).toISOString();
  const changed = await item('PATCH', id, { name: '😀'.repeat(200) });
  const expected = { id, name: '😀'.repeat(200), contactCount: 0, createdAt, updatedAt };
  assert.deepEqual([changed.status, changed.body], [200, expected]);
  assert.deepEqual((await item('GET', id)).body, expected);
  await clock.advance(1_000);
  for (const body of [{}, { name: expected.name }])
    assert.deepEqual((await item('PATCH', id, body)).body, expected);
  for (const field of ['id', 'contactCount', 'createdAt', 'updatedAt']) {
    const refused = await item('PATCH', id, { name: 'x', [field]: 5 });
    assert.deepEqual([refused.status, refused.body.error.param], [400, field]);
  }
});

test('the list is newest first, in pages, both ways, by time, and of this tenant alone', async () => {
  const { testKey } = await world.addTenant('lister');
  const ids: string[] = [];
  const times: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    await clock.advance(1_000);
    times.unshift(new Date(clock.now()).toISOString());
    ids.unshift((await create({ name }, testKey)).body.id);
  }
  const list = async (query: string) => {
    const { body } = await world.request('GET', `/v1/audiences?${query}`, { key: testKey });
    return [body.data.map(({ id }: { id: string }) => id), body.hasMore, body.nextCursor];
  };
  assert.deepEqual(await list(''), [ids, false, null]);
  assert.deepEqual(await list('limit=2'), [ids.slice(0, 2), true, ids[1]]);
  assert.deepEqual(await list(`limit=2&startingAfter=${ids[1]}`), [ids.slice(2), false, null]);
  assert.deepEqual(await list(`limit=1&endingBefore=${ids[2]}`), [[ids[1]], true, ids[1]]);
  assert.deepEqual(await list(`createdAfter=${times[1]}`), [ids.slice(0, 2), false, null]);
  assert.deepEqual(await list(`createdBefore=${times[1]}`), [ids.slice(2), false, null]);
  const foreign = await world.request('GET', '/v1/audiences?startingAfter=ct_1');
  assert.deepEqual([foreign.status, foreign.body.error.param], [400, 'startingAfter']);
});

test('a tenant has at most 1,000 audiences, deleted ones not counted, another its own', async () => {
  const { testKey, tenantId } = await world.addTenant('collector');
  const names = Array.from({ length: 1_000 }, (_, index) => `a${index}`);
  const all = await Promise.all(names.map((name) => create({ name }, testKey)));
  assert.ok(all.every(({ status }) => status === 201));
  const refused = await create({ name: 'a' }, testKey);
  const { type, message, param } = refused.body.error;
  assert.deepEqual([refused.status, type, param], [400, 'validation_error', undefined]);
  assert.match(message, /1000 audiences/);
  assert.equal((await create({ name: 'a' })).status, 201);
  assert.equal((await item('DELETE', all[0]?.body.id, undefined, testKey)).status, 204);
  assert.equal((await create({ name: 'a' }, testKey)).status, 201);
  assert.equal(await findAudience(world.app.db.read, tenantId, all[0]?.body.id), undefined);
});

test('a sending key may not see or make audiences, a reading key may only see them', async () => {
  const keyWith = async (permission: 'sending_access' | 'read_only') => {
    const { tenantId } = world;
    const key = { tenantId, name: permission, mode: 'test', permission, expiresAt: null } as const;
    return (await createApiKey(world.app, key)).token;
  };
  const [sending, reading] = [await keyWith('sending_access'), await keyWith('read_only')];
  const { id } = (await create({ name: 'a' })).body;
  for (const path of ['/v1/audiences', `/v1/audiences/${id}`, `/v1/audiences/${id}/contacts`]) {
    assert.equal((await world.request('GET', path, { key: sending })).status, 403);
    assert.equal((await world.request('GET', path, { key: reading })).status, 200);
  }
  for (const key of [sending, reading]) {
    assert.equal((await create({ name: 'a' }, key)).status, 403);
    assert.equal((await item('PATCH', id, { name: 'b' }, key)).status, 403);
    assert.equal((await item('DELETE', id, undefined, key)).status, 403);
    const path = `/v1/audiences/${id}/contacts`;
    const body = { email: 'a@b.example' };
    assert.equal((await world.request('POST', path, { key, body })).status, 403);
    assert.equal((await world.request('PATCH', `${path}/a@b.example`, { key, body: {} })).status, 403);
    assert.equal((await world.request('DELETE', `${path}/a@b.example`, { key })).status, 403);
  }
});
