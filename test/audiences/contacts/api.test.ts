import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newId } from '../../../src/system/ids.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp, type TestMethod } from '../../support/test-app.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const iso = () => new Date(clock.now()).toISOString();

async function newAudience(key = world.testKey): Promise<string> {
  const { body } = await world.request('POST', '/v1/audiences', { key, body: { name: 'a' } });
  return body.id;
}

async function newTopic(key = world.testKey): Promise<string> {
  return (await world.request('POST', '/v1/topics', { key, body: { name: 't' } })).body.id;
}

const audienceId = await newAudience();
const contacts = (id = audienceId) => `/v1/audiences/${id}/contacts`;
const create = (body: unknown, { query = '', of = audienceId, key = world.testKey } = {}) =>
  world.request('POST', `${contacts(of)}${query}`, { key, body });
const item = (method: TestMethod, id: string, body?: unknown, key = world.testKey) =>
  world.request(method, `${contacts()}/${id}`, { key, body });

let made = 0;
const freshEmail = () => `reader${++made}@example.com`;
const fresh = async (fields: object = {}) => (await create({ email: freshEmail(), ...fields })).body;
const countOf = async (id = audienceId) =>
  (await world.request('GET', `/v1/audiences/${id}`)).body.contactCount;

test('a contact is created with its whole record, and retrieved the same with either key', async () => {
  const topicId = await newTopic();
  const body = {
    email: 'Ada@Example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
    unsubscribed: false,
    properties: { plan: 'pro', seats: 12, trial: true },
    topics: [{ id: topicId, subscription: 'opt_in' }],
  };
  const before = await countOf();
  const created = await create(body);
  const { id } = created.body;
  assert.match(id, /^ct_[0-9a-z]{26}$/);
  const record = {
    ...{ id, audienceId, ...body, unsubscribedAt: null, status: 'subscribed' },
    ...{ consent: null, confirmation: null },
    ...{ createdAt: iso(), updatedAt: iso() },
  };
  assert.deepEqual([created.status, created.body], [201, record]);
  for (const key of [world.testKey, world.liveKey]) {
    const got = await item('GET', id, undefined, key);
    assert.deepEqual([got.status, got.body], [200, record]);
  }
  assert.equal(await countOf(), before + 1);
});

test('only the address is required', async () => {
  const { body } = await create({ email: 'only@example.com' });
  const { firstName, lastName, unsubscribed, properties, topics } = body;
  assert.deepEqual([firstName, lastName, unsubscribed, properties, topics], [null, null, false, {}, []]);
});

test('a contact may be created unsubscribed', async () => {
  const { unsubscribed, unsubscribedAt, status } = await fresh({ unsubscribed: true });
  assert.deepEqual([unsubscribed, unsubscribedAt, status], [true, iso(), 'unsubscribed']);
});

const BAD: [name: string, body: object, param: string][] = [
  ['an email that is a number', { email: 1 }, 'email'],
  ['an email that is null', { email: null }, 'email'],
  ['an email that is no address', { email: 'ada' }, 'email'],
  ['a first name that is a number', { firstName: 1 }, 'firstName'],
  ['a last name with a NUL', { lastName: 'a\0' }, 'lastName'],
  ['unsubscribed that is text', { unsubscribed: 'true' }, 'unsubscribed'],
  ['unsubscribed that is null', { unsubscribed: null }, 'unsubscribed'],
  ['properties that are a list', { properties: [] }, 'properties'],
  ['properties that are null', { properties: null }, 'properties'],
  ['a property that is an object', { properties: { a: {} } }, 'properties.a'],
  ['a property that is a list', { properties: { a: ['b'] } }, 'properties.a'],
  ['101 properties', { properties: manyProperties(101, 1) }, 'properties'],
  ['topics that are an object', { topics: {} }, 'topics'],
  ['a topic without a subscription', { topics: [{ id: newId('top', NOW) }] }, 'topics[0].subscription'],
  [
    'a subscription that is none',
    { topics: [{ id: newId('top', NOW), subscription: 'in' }] },
    'topics[0].subscription',
  ],
  ['a field spelt in snake case', { first_name: 'Ada' }, 'first_name'],
];
function manyProperties(count: number, value: unknown) {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
}
for (const [name, body, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const email = freshEmail();
    const whole = { email, ...body };
    const { id } = await fresh();
    for (const answer of [
      await create(whole),
      await create(whole, { query: '?upsert=true' }),
      await item('PATCH', id, body),
    ]) {
      const { type, param: blamed } = answer.body.error;
      assert.deepEqual(
        [answer.status, type, blamed],
        [400, 'validation_error', param],
        answer.body.error.message,
      );
    }
    assert.equal((await item('GET', email)).status, 404);
  });
}

test('a contact needs an address', async () => {
  const answer = await create({ firstName: 'Ada' });
  assert.deepEqual([answer.status, answer.body.error.param], [400, 'email']);
});

test('any legal key survives, __proto__ and constructor among them, and pollutes nothing', async () => {
  const email = freshEmail();
  const properties =
    '{"__proto__":"p","constructor":"c","prototype":true,"toString":1,"hasOwnProperty":"h","0":-0}';
  const headers = { authorization: `Bearer ${world.testKey}`, 'content-type': 'application/json' };
  const ask = (method: 'POST' | 'PATCH', url: string, payload: string) =>
    world.inject({ method, url, headers, payload });
  const kept = properties.replace('-0', '0');
  const sorted = (text: string) =>
    Object.entries(JSON.parse(text) as object).sort(([a], [b]) => (a < b ? -1 : 1));
  const partOf = (text: string) => /"properties":(\{.*?\})/.exec(text)?.[1] ?? '';
  const created = await ask('POST', contacts(), `{"email":"${email}","properties":${properties}}`);
  assert.equal(created.statusCode, 201, created.body);
  assert.deepEqual(sorted(partOf(created.body)), sorted(kept));
  const url = `${contacts()}/${email}`;
  const got = await world.inject({ method: 'GET', url, headers });
  assert.deepEqual(sorted(partOf(got.body)), sorted(kept));
  const changed = await ask('PATCH', url, '{"properties":{"__proto__":null,"constructor":"d","0":null}}');
  assert.deepEqual(
    sorted(partOf(changed.body)),
    sorted('{"constructor":"d","prototype":true,"toString":1,"hasOwnProperty":"h"}'),
  );
  assert.equal(({} as Record<string, unknown>)['p'], undefined);
  const object = await ask(
    'POST',
    contacts(),
    '{"email":"x@example.com","properties":{"__proto__":{"p":1}}}',
  );
  assert.deepEqual([object.statusCode, object.json().error.param], [400, 'properties.__proto__']);
});

test('an address that is there already is refused with its id, in any spelling', async () => {
  const { id } = (await create({ email: 'Twice@bücher.example', firstName: 'A' })).body;
  for (const email of ['Twice@bücher.example', 'twice@XN--BCHER-KVA.example']) {
    const answer = await create({ email, firstName: 'B' });
    const { type, details } = answer.body.error;
    assert.deepEqual([answer.status, type, details], [409, 'already_exists', { id }]);
  }
  assert.equal((await item('GET', id)).body.firstName, 'A');
  const elsewhere = await create({ email: 'twice@bücher.example' }, { of: await newAudience() });
  assert.equal(elsewhere.status, 201);
});

test('an upsert creates, then updates what is said, and answers the whole record', async () => {
  const email = freshEmail();
  const upsert = (fields: object) => create({ email, ...fields }, { query: '?upsert=true' });
  const count = await countOf();
  const created = await upsert({ firstName: 'A', properties: { a: 1, b: 1 } });
  assert.equal(created.status, 201);
  await clock.advance(1_000);
  const updated = await upsert({ lastName: 'B', properties: { b: 2 } });
  assert.deepEqual(
    [updated.status, updated.body],
    [200, { ...created.body, lastName: 'B', properties: { a: 1, b: 2 }, updatedAt: iso() }],
  );
  assert.deepEqual((await item('GET', created.body.id)).body, updated.body);
  await clock.advance(1_000);
  const same = await upsert({ lastName: 'B' });
  assert.deepEqual([same.status, same.body], [200, updated.body]);
  assert.equal(await countOf(), count + 1);
  assert.equal((await create({ email }, { query: '?upsert=false' })).status, 409);
  const bad = await create({ email }, { query: '?upsert=maybe' });
  assert.deepEqual([bad.status, bad.body.error.param], [400, 'upsert']);
});

test('an upsert never brings back who has left; a change does when it says so', async () => {
  const topicId = await newTopic();
  const out = [{ id: topicId, subscription: 'opt_out' }];
  const into = [{ id: topicId, subscription: 'opt_in' }];
  const left = await fresh({ unsubscribed: true, topics: out });
  const again = await create(
    { email: left.email, unsubscribed: false, topics: into },
    { query: '?upsert=true' },
  );
  assert.deepEqual([again.status, again.body], [200, left]);
  await clock.advance(1_000);
  const { body } = await item('PATCH', left.id, { unsubscribed: false, topics: into });
  assert.deepEqual(body, {
    ...left,
    ...{ unsubscribed: false, unsubscribedAt: null, status: 'subscribed', topics: into, updatedAt: iso() },
  });
});

test('a change keeps what it does not name, merges properties, and null empties names', async () => {
  const before = await fresh({ firstName: 'A', lastName: 'B', properties: { a: 1, b: 'two', c: true } });
  await clock.advance(1_000);
  const { status, body } = await item('PATCH', before.id, {
    ...{ firstName: null, properties: { a: null, b: 2, d: 'new', e: null } },
  });
  const after = { ...before, firstName: null, properties: { b: 2, c: true, d: 'new' }, updatedAt: iso() };
  assert.deepEqual([status, body], [200, after]);
  assert.deepEqual((await item('GET', before.id)).body, after);
});

test('a change that changes nothing leaves even the time', async () => {
  const before = await fresh({ firstName: 'A', properties: { a: 1 } });
  await clock.advance(1_000);
  for (const body of [
    {},
    { firstName: 'A', properties: { a: 1, b: null }, unsubscribed: false, topics: [] },
  ]) {
    assert.deepEqual((await item('PATCH', before.id, body)).body, before);
  }
});

test('unsubscribing says since when, and saying it again does not move that', async () => {
  const { id } = await fresh();
  await clock.advance(1_000);
  const since = iso();
  const left = (await item('PATCH', id, { unsubscribed: true })).body;
  assert.deepEqual([left.unsubscribed, left.unsubscribedAt, left.status], [true, since, 'unsubscribed']);
  await clock.advance(1_000);
  const later = (await item('PATCH', id, { unsubscribed: true, firstName: 'A' })).body;
  assert.deepEqual([later.unsubscribedAt, later.updatedAt], [since, iso()]);
});

test('choices of topics are set one by one, and none when one of them is unknown', async () => {
  const [first, second] = [await newTopic(), await newTopic()];
  const { id } = await fresh({ topics: [{ id: first, subscription: 'opt_out' }] });
  const both = (await item('PATCH', id, { topics: [{ id: second, subscription: 'opt_in' }] })).body.topics;
  assert.deepEqual(both, [
    { id: first, subscription: 'opt_out' },
    { id: second, subscription: 'opt_in' },
  ]);
  const topics = [first, newId('top', NOW)].map((topic) => ({ id: topic, subscription: 'opt_in' }));
  for (const answer of [await item('PATCH', id, { topics }), await create({ email: freshEmail(), topics })]) {
    assert.deepEqual([answer.status, answer.body.error.param], [400, 'topics[1].id']);
  }
  assert.deepEqual((await item('GET', id)).body.topics, both);
});

test('the choice of a topic that is deleted is shown no more, anywhere', async () => {
  const [kept, gone] = [await newTopic(), await newTopic()];
  const of = await newAudience();
  const topics = [kept, gone].map((id) => ({ id, subscription: 'opt_out' }));
  const { id } = (await create({ email: freshEmail(), topics }, { of })).body;
  await world.request('DELETE', `/v1/topics/${gone}`);
  const expected = topics.slice(0, 1);
  assert.deepEqual((await world.request('GET', `${contacts(of)}/${id}`)).body.topics, expected);
  assert.deepEqual((await world.request('GET', contacts(of))).body.data[0].topics, expected);
  const changed = await world.request('PATCH', `${contacts(of)}/${id}`, { body: { firstName: 'A' } });
  assert.deepEqual(changed.body.topics, expected);
});

test('the address may change, to a free one', async () => {
  const [one, two] = [await fresh(), await fresh()];
  const moved = await item('PATCH', one.id, { email: 'Moved@example.com' });
  assert.deepEqual([moved.status, moved.body.email], [200, 'Moved@example.com']);
  assert.equal((await item('GET', one.email)).status, 404);
  assert.equal((await item('GET', 'moved@example.com')).body.id, one.id);
  const taken = await item('PATCH', one.id, { email: two.email.toUpperCase(), firstName: 'x' });
  assert.deepEqual(
    [taken.status, taken.body.error.type, taken.body.error.details],
    [409, 'already_exists', { id: two.id }],
  );
  assert.deepEqual((await item('GET', one.id)).body, moved.body);
  const respelt = await item('PATCH', one.id, { email: 'MOVED@example.com' });
  assert.deepEqual([respelt.status, respelt.body.email], [200, 'MOVED@example.com']);
});

test('a contact is named by its id or its address, in any case, encoded or not', async () => {
  const odd = await fresh({ email: "o'Brien+{x}%/?#@bücher.example" });
  const spellings = [
    odd.id,
    encodeURIComponent(odd.email),
    encodeURIComponent("O'BRIEN+{X}%/?#@XN--BCHER-KVA.example"),
  ];
  for (const spelling of spellings) {
    const got = await item('GET', spelling);
    assert.deepEqual([got.status, got.body], [200, odd]);
  }
  const longest = await fresh({ email: `${'%'.repeat(64)}@${'a.'.repeat(93)}fo` });
  assert.equal((await item('GET', encodeURIComponent(longest.email))).body.id, longest.id);
  const changed = await item('PATCH', spellings[2] ?? '', { firstName: 'Pat' });
  assert.deepEqual([changed.status, changed.body.id], [200, odd.id]);
  assert.equal((await item('DELETE', spellings[1] ?? '')).status, 204);
  assert.equal((await item('GET', odd.id)).status, 404);
});

test('a deleted contact is gone, not counted, and its address is free', async () => {
  const reader = await fresh();
  const count = await countOf();
  const deleted = await item('DELETE', reader.id);
  assert.deepEqual([deleted.status, deleted.body], [204, '']);
  assert.equal((await item('DELETE', reader.id)).status, 404);
  assert.equal(await countOf(), count - 1);
  const again = await create({ email: reader.email });
  assert.equal(again.status, 201);
  assert.notEqual(again.body.id, reader.id);
});

type Page = { data: { id: string; email: string }[]; hasMore: boolean; nextCursor: string | null };

async function page(of: string, query: string): Promise<Page> {
  const { status, body } = await world.request('GET', `${contacts(of)}?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

test('the list is filtered by address, by who unsubscribed, and by time', async () => {
  const of = await newAudience();
  const add = async (fields: object) => {
    await clock.advance(1_000);
    return (await create({ email: freshEmail(), ...fields }, { of })).body;
  };
  const [a, b, c, d] = [
    await add({ unsubscribed: true }),
    await add({}),
    await add({ email: 'Per%cent_@example.com', unsubscribed: true }),
    await add({}),
  ];
  const ids = async (query: string) => (await page(of, query)).data.map(({ id }) => id);
  assert.deepEqual(await ids(''), [d.id, c.id, b.id, a.id]);
  assert.deepEqual(await ids('unsubscribed=true'), [c.id, a.id]);
  assert.deepEqual(await ids('unsubscribed=false'), [d.id, b.id]);
  assert.deepEqual(await ids(`email=${encodeURIComponent('PER%CENT_@example.com')}`), [c.id]);
  assert.deepEqual(await ids(`email=${encodeURIComponent('Per%cent_@example.com')}&unsubscribed=false`), []);
  for (const none of ['%25', '_', '', '%00', 'example.com', 'per%25%40example.com']) {
    assert.deepEqual(await ids(`email=${none}`), []);
  }
  assert.deepEqual(await ids(`unsubscribed=true&createdAfter=${b.createdAt}`), [c.id]);
  assert.deepEqual(await ids(`createdAfter=${b.createdAt}&createdBefore=${d.createdAt}`), [c.id, b.id]);
  assert.deepEqual(await ids(`unsubscribed=false&startingAfter=${c.id}`), [b.id]);
  const bad = await world.request('GET', `${contacts(of)}?unsubscribed=maybe`);
  assert.deepEqual([bad.status, bad.body.error.param], [400, 'unsubscribed']);
  const cursor = await world.request('GET', `${contacts(of)}?startingAfter=${of}`);
  assert.deepEqual([cursor.status, cursor.body.error.param], [400, 'startingAfter']);
});

test('many parallel creations of one address make one contact', async () => {
  const of = await newAudience();
  const email = freshEmail();
  const answers = await Promise.all(Array.from({ length: 200 }, () => create({ email }, { of })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 199);
  assert.equal(await countOf(of), 1);
});
