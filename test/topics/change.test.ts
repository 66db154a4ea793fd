/** PATCH and DELETE of topics. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { createApiKey } from '../../src/tenants/keys.ts';
import { listTopics } from '../../src/topics/store.ts';
import { senderOf } from '../emails/fixtures.ts';
import { explain } from '../support/explain.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const SEED = 20_261_122;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const NEWS = { name: 'News', description: 'Once a week', defaultOptIn: true };
const create = async (more: object = {}, key = world.testKey) => {
  const { status, body } = await world.request('POST', '/v1/topics', { key, body: { ...NEWS, ...more } });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
};
const patch = (id: string, body: unknown, key = world.testKey) =>
  world.request('PATCH', `/v1/topics/${id}`, { body, key });
const get = async (id: string) => (await world.request('GET', `/v1/topics/${id}`)).body;

test('every field can be changed at once, and the topic is answered', async () => {
  const before = await create();
  await clock.advance(1_000);
  const change = { name: 'Offers', description: null, defaultOptIn: false };
  const { status, body } = await patch(before.id, { ...change, unknown: 1 }, world.liveKey);
  const updatedAt = new Date(clock.now()).toISOString();
  assert.deepEqual([status, body], [200, { ...before, ...change, updatedAt }]);
  assert.deepEqual(await get(before.id), body);
});

test('fields that a change does not name stay, and a change to the present values is none', async () => {
  const before = await create();
  await clock.advance(1_000);
  const after = (await patch(before.id, { defaultOptIn: false })).body;
  assert.deepEqual(after, {
    ...{ ...before, defaultOptIn: false },
    updatedAt: new Date(clock.now()).toISOString(),
  });
  await clock.advance(1_000);
  for (const body of [{}, { defaultOptIn: false }, { ...NEWS, defaultOptIn: false }, { unknown: 1 }]) {
    const answer = await patch(before.id, body);
    assert.deepEqual([answer.status, answer.body], [200, after], JSON.stringify(body));
  }
});

const REFUSED: [change: object, param: string][] = [
  [{ name: '' }, 'name'],
  [{ name: null }, 'name'],
  [{ name: 'ä'.repeat(51) }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: 'a\ud800' }, 'name'],
  [{ description: 'x'.repeat(201) }, 'description'],
  [{ description: '\0' }, 'description'],
  [{ description: 7 }, 'description'],
  [{ defaultOptIn: null }, 'defaultOptIn'],
  [{ defaultOptIn: 'false' }, 'defaultOptIn'],
  [{ id: 'top_x' }, 'id'],
  [{ createdAt: '2026-01-01T00:00:00Z' }, 'createdAt'],
  [{ updatedAt: null }, 'updatedAt'],
  [{ default_opt_in: false }, 'default_opt_in'],
];
for (const [change, param] of REFUSED) {
  test(`a change is refused, and nothing of it done: ${JSON.stringify(change).slice(0, 60)}`, async () => {
    const before = await create({}, world.testKey);
    const { status, body } = await patch(before.id, { name: 'new', ...change });
    assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', param]);
    assert.deepEqual(await get(before.id), before);
    assert.equal((await world.request('DELETE', `/v1/topics/${before.id}`)).status, 204);
  });
}

test('a change that is no object or absent is refused', async () => {
  const { id } = await create();
  for (const body of [undefined, null, [], 'x', 7]) assert.equal((await patch(id, body)).status, 400);
});

test('two changes at once are both made', async () => {
  const { id } = await create();
  await Promise.all([patch(id, { name: 'new' }), patch(id, { defaultOptIn: false })]);
  const { name, description, defaultOptIn } = await get(id);
  assert.deepEqual([name, description, defaultOptIn], ['new', NEWS.description, false]);
});

test('names are for the tenant alone, so several topics may have the same', async () => {
  const [one, two] = [await create({ name: 'Same' }), await create({ name: 'Same' })];
  assert.notEqual(one.id, two.id);
  const three = await create({ name: 'Other' });
  assert.deepEqual((await patch(three.id, { name: 'Same' })).body.name, 'Same');
});

test('a deleted topic is gone for everybody, and its place is free', async () => {
  const { testKey } = await world.addTenant('replacer');
  const topics = [];
  for (let count = 0; count < 100; count++) topics.push(await create({}, testKey));
  const full = await world.request('POST', '/v1/topics', { key: testKey, body: NEWS });
  assert.equal(full.status, 400);
  const { id } = topics[50];
  const gone = await world.request('DELETE', `/v1/topics/${id}`, { key: testKey });
  assert.deepEqual([gone.status, gone.body], [204, '']);
  for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
    const answer = await world.request(method, `/v1/topics/${id}`, { key: testKey, ...(body && { body }) });
    assert.deepEqual([answer.status, answer.body.error.message], [404, 'Topic not found'], method);
  }
  const { body } = await world.request('GET', '/v1/topics?limit=100', { key: testKey });
  assert.deepEqual(
    [body.data.length, body.data.some((topic: { id: string }) => topic.id === id)],
    [99, false],
  );
  await create({}, testKey);
});

test('mail that was accepted for a topic stays as it was when the topic is deleted; new mail is refused', async () => {
  const { id } = await create();
  const scheduledAt = new Date(clock.now() + HOUR_MS).toISOString();
  const more = { type: 'broadcast', topicId: id, scheduledAt };
  const email = await senderOf(() => world).accepted(more);
  assert.equal((await world.request('DELETE', `/v1/topics/${id}`)).status, 204);
  assert.deepEqual((await world.request('GET', `/v1/emails/${email.id}`)).body, email);
  await senderOf(() => world).refused('topicId', more);
});

test('neither a sending nor a reading key may change or delete a topic', async () => {
  const before = await create();
  for (const permission of ['sending_access', 'read_only'] as const) {
    const { tenantId } = world;
    const key = { tenantId, name: permission, mode: 'test', permission, expiresAt: null } as const;
    const { token } = await createApiKey(world.app, key);
    assert.equal((await patch(before.id, { name: 'x' }, token)).status, 403);
    assert.equal((await world.request('DELETE', `/v1/topics/${before.id}`, { key: token })).status, 403);
  }
  assert.deepEqual(await get(before.id), before);
});

test('every page of topics comes from an index, in order', async () => {
  for (const cursor of [
    {},
    { startingAfter: 'top_1' },
    { endingBefore: 'top_1' },
    { from: 'a', until: 'b' },
  ]) {
    const plan = await explain((tx) => listTopics(tx, 'ten_1', { limit: 10, ...cursor }));
    assert.equal(plan.length, 1, plan.join('\n'));
    assert.match(plan[0] ?? '', /^SEARCH topics USING INDEX topicsByTenant /);
  }
});

test('changes add up to the last word on every field, whatever their order', async () => {
  const line = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
    .map((text) => `x${text}`.slice(0, 40));
  const plain = line.filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
  const fields = { name: plain, description: fc.option(plain), defaultOptIn: fc.boolean() };
  const change = fc.record(fields, { requiredKeys: [] });
  const { id, updatedAt: _, ...wished } = await create();
  const property = fc.asyncProperty(fc.array(change, { maxLength: 5 }), async (changes) => {
    for (const body of changes) {
      Object.assign(wished, body);
      assert.equal((await patch(id, body)).status, 200, JSON.stringify(body));
    }
    const { updatedAt: __, ...shown } = await get(id);
    assert.deepEqual(shown, { ...wished, id });
  });
  await fc.assert(property, { seed: SEED, numRuns: 40 });
});
