import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp({ system: { clock: createFakeClock(1_800_000_000_000) } });
after(() => world.close());

const PATH = '/v1/suppressions';
const add = (suppressions: unknown, key = world.testKey) =>
  world.request('POST', `${PATH}/batch`, { key, body: { suppressions } });
const remove = (emails: unknown, key = world.testKey) =>
  world.request('POST', `${PATH}/batch/delete`, { key, body: { emails } });
const get = async (email: string) =>
  (await world.request('GET', `${PATH}/${encodeURIComponent(email)}`)).body;
const events = async () =>
  (
    await world.app.db.read
      .selectFrom('events')
      .select(['type', 'mode', 'data'])
      .where('tenantId', '=', world.tenantId)
      .execute()
  ).map(({ type, mode, data }) => `${type} ${mode} ${JSON.parse(data).email}`);

test('each address of an added batch is answered in its place: new, there already, or no address', async () => {
  await world.request('POST', PATH, { body: { email: 'known@example.com', reason: 'complaint' } });
  const { status, body } = await add([
    { email: 'New@Example.com' },
    { email: 'nobody' },
    { email: 'KNOWN@example.com', reason: 'bounce' },
    { email: 'reasoned@example.com', reason: 'unsubscribe' },
    { email: 'new@example.com', reason: 'bounce' },
  ]);
  assert.equal(status, 200);
  const [first, refused, known, reasoned, second] = body.data;
  assert.equal(body.data.length, 5);
  assert.deepEqual(first, { ...(await get('new@example.com')), reason: 'manual', created: true });
  assert.deepEqual(Object.keys(refused), ['error']);
  assert.equal(refused.error.type, 'validation_error');
  assert.match(refused.error.message, /email/);
  assert.deepEqual(known, { ...(await get('known@example.com')), created: false });
  assert.equal(known.reason, 'complaint');
  assert.deepEqual(reasoned, { ...(await get('reasoned@example.com')), created: true });
  assert.deepEqual(second, { ...(await get('new@example.com')), created: false });
  assert.equal(second.reason, 'bounce');
});

test('an error of one item of a batch is the error that the item gets alone', async () => {
  const wrong: [item: unknown, message: RegExp][] = [
    [{ email: 7 }, /^`email` /],
    [{ email: null }, /^`email` /],
    [{ reason: 'bounce' }, /^`email` is required/],
    [{ email: 'a@example.com', reason: 'spite' }, /^`reason` /],
    [{ email: 'a@example.com', Reason: 'bounce' }, /^`Reason` .* `reason`/],
    [{ email: 'a@example.com, b@example.com' }, /^`email` /],
    ['a@example.com', /object/],
    [null, /object/],
    [[], /object/],
  ];
  const { status, body } = await add([{ email: 'right@example.com' }, ...wrong.map(([item]) => item)]);
  assert.equal(status, 200);
  const [right, ...refused] = body.data;
  assert.equal(right.created, true);
  assert.equal(refused.length, wrong.length);
  for (const [index, { error }] of refused.entries()) {
    assert.equal(error.type, 'validation_error');
    assert.match(error.message, wrong[index]?.[1] ?? /^$/);
  }
});

test('a batch without a single address is answered too', async () => {
  const { status, body } = await add([{ email: 'a' }, { email: 'b' }]);
  assert.deepEqual([status, body.data.length], [200, 2]);
});

test('each address of a removed batch leaves the list, and is answered as it was given', async () => {
  await add([{ email: 'one@example.com' }, { email: 'two@example.com' }]);
  const { status, body } = await remove([
    'One@Example.com',
    'never@example.com',
    'nonsense',
    '',
    'one@example.com',
  ]);
  assert.deepEqual(
    [status, body],
    [
      200,
      {
        data: [
          { email: 'One@Example.com', deleted: true },
          { email: 'never@example.com', deleted: false },
          { email: 'nonsense', deleted: false },
          { email: '', deleted: false },
          { email: 'one@example.com', deleted: false },
        ],
      },
    ],
  );
  assert.equal((await get('one@example.com')).error.type, 'not_found');
  assert.equal((await get('two@example.com')).email, 'two@example.com');
});

test('a batch of one tenant leaves the list of another alone', async () => {
  const other = await world.addTenant('neighbour');
  await add([{ email: 'shared@example.com' }]);
  const { body } = await remove(['shared@example.com'], other.testKey);
  assert.deepEqual(body.data, [{ email: 'shared@example.com', deleted: false }]);
  const added = await add([{ email: 'shared@example.com' }], other.testKey);
  assert.equal(added.body.data[0].created, true);
  assert.equal((await get('shared@example.com')).email, 'shared@example.com');
});

test('a batch causes an event for each address that changed the list, in the mode of the key', async () => {
  const before = (await events()).length;
  await add([{ email: 'e1@example.com' }, { email: 'e1@example.com' }, { email: 'no' }], world.liveKey);
  await remove(['e1@example.com', 'e1@example.com', 'e2@example.com'], world.liveKey);
  assert.deepEqual((await events()).slice(before).sort(), [
    'suppression.added live e1@example.com',
    'suppression.removed live e1@example.com',
  ]);
});

test('a hundred at once and not one more', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `many${index}@example.com`);
  const items = (count: number) => many(count).map((email) => ({ email }));
  assert.equal((await add(items(100))).body.data.length, 100);
  assert.equal((await remove(many(100))).body.data.length, 100);
  for (const [answer, param] of [
    [await add(items(101)), 'suppressions'],
    [await remove(many(101)), 'emails'],
    [await add([]), 'suppressions'],
    [await remove([]), 'emails'],
    [await add(undefined), 'suppressions'],
    [await add({ email: 'a@example.com' }), 'suppressions'],
    [await remove('a@example.com'), 'emails'],
    [await remove(['a@example.com', null]), 'emails[1]'],
  ] as const) {
    assert.deepEqual(
      [answer.status, answer.body.error.type, answer.body.error.param],
      [400, 'validation_error', param],
    );
  }
});
