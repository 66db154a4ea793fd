import assert from 'node:assert/strict';
import { after, test } from 'node:test';
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
  assert.deepEqual(created.body, {
    id,
    name: 'Readers',
    contactCount: 0,
    optIn: null,
    createdAt,
    updatedAt: createdAt,
  });
  for (const key of [world.testKey, world.liveKey]) {
    const got = await item('GET', id, undefined, key);
    assert.deepEqual([got.status, got.body], [200, created.body]);
  }
});

const BAD: [name: string, body: unknown, param: string | undefined][] = [
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
