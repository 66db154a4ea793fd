import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { senderOf } from '../emails/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const create = (body: unknown) => world.request('POST', '/v1/topics', { body });

test('a topic is created with its whole record, and retrieved the same with either key', async () => {
  const given = { name: 'News', description: 'Once a week', defaultOptIn: false };
  const created = await create(given);
  assert.equal(created.status, 201);
  const { id } = created.body;
  assert.match(id, /^top_[0-9a-z]{26}$/);
  const createdAt = new Date(NOW).toISOString();
  assert.deepEqual(created.body, { id, ...given, createdAt, updatedAt: createdAt });
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

test('refused with 400: no name', async () => {
  const { status, body } = await create({});
  assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', 'name']);
});

for (const [name, change, param] of [
  ['an empty name', { name: '' }, 'name'],
  ['a name that is null', { name: null }, 'name'],
  ['a name that is a number', { name: 1 }, 'name'],
  ['a name of 51 characters', { name: 'ä'.repeat(51) }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['a name with a lone surrogate', { name: 'a\ud800' }, 'name'],
  ['a description of 201 characters', { description: 'x'.repeat(201) }, 'description'],
  ['a description with a NUL', { description: '\0' }, 'description'],
  ['a description that is a number', { description: 7 }, 'description'],
  ['a default that is text', { defaultOptIn: 'true' }, 'defaultOptIn'],
  ['a default that is null', { defaultOptIn: null }, 'defaultOptIn'],
  ['a field spelt in snake case', { default_opt_in: false }, 'default_opt_in'],
] as const) {
  test(`refused with 400, and nothing of it done: ${name}`, async () => {
    const before = (await create({ name: 'a' })).body;
    const path = `/v1/topics/${before.id}`;
    const body = { name: 'new', description: 'new', ...change };
    for (const answer of [await create(body), await world.request('PATCH', path, { body })]) {
      const { type, param: blamed } = answer.body.error;
      assert.deepEqual([answer.status, type, blamed], [400, 'validation_error', param]);
    }
    assert.deepEqual((await world.request('GET', path)).body, before);
    assert.equal((await world.request('DELETE', path)).status, 204);
  });
}

test('the longest name and description are accepted, astral characters counted once', async () => {
  const { status, body } = await create({ name: '😀'.repeat(50), description: 'é'.repeat(200) });
  assert.deepEqual([status, body.name, body.description], [201, '😀'.repeat(50), 'é'.repeat(200)]);
});

test('mail that was accepted for a topic stays as it was when the topic is deleted; new mail is refused', async () => {
  const { id } = (await create({ name: 'a' })).body;
  const scheduledAt = new Date(clock.now() + HOUR_MS).toISOString();
  const more = { type: 'broadcast', topicId: id, scheduledAt };
  const email = await senderOf(() => world).accepted(more);
  assert.equal((await world.request('DELETE', `/v1/topics/${id}`)).status, 204);
  assert.deepEqual((await world.request('GET', `/v1/emails/${email.id}`)).body, email);
  await senderOf(() => world).refused('topicId', more);
});
