/** What endpoints hear of contacts: each change once, with the mode of its key, in the transaction of the change. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sampleData } from '../../../src/webhooks/sample.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const { id: audienceId } = (await world.request('POST', '/v1/audiences', { body: { name: 'a' } })).body;
const PATH = `/v1/audiences/${audienceId}/contacts`;

type Told = {
  type: string;
  mode: string;
  data: Record<string, unknown>;
  createdAt: number;
  emailId: unknown;
};

/** Those recorded since the last look. */
async function told(): Promise<Told[]> {
  const rows = await world.app.db.read
    .selectFrom('events')
    .selectAll()
    .where('tenantId', '=', world.tenantId)
    .orderBy('id')
    .execute();
  const all = rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Told['data'] }));
  const since = all.filter(({ id }) => !seen.has(id));
  for (const { id } of since) seen.add(id);
  return since;
}
const seen = new Set<string>();
const types = async () => (await told()).map(({ type }) => type).sort();

let made = 0;
async function create(fields: object = {}, key = world.testKey) {
  const body = { email: `reader${++made}@example.com`, ...fields };
  return (await world.request('POST', `${PATH}?upsert=true`, { key, body })).body;
}

test('a creation is told with the contact as it is shown, in the mode of the key', async () => {
  for (const [key, mode] of [
    [world.testKey, 'test'],
    [world.liveKey, 'live'],
  ] as const) {
    const contact = await create({ firstName: 'A', properties: { a: 1 } }, key);
    const [event, ...more] = await told();
    assert.deepEqual(more, []);
    const { type, mode: ofEvent, data, createdAt, emailId } = event ?? {};
    assert.deepEqual(
      [type, ofEvent, data, createdAt, emailId],
      ['contact.created', mode, contact, clock.now(), null],
    );
  }
});

test('a change is told with what it led to; unsubscribing is told besides', async () => {
  const { id } = await create();
  await told();
  const change = async (body: object) => (await world.request('PATCH', `${PATH}/${id}`, { body })).body;
  const renamed = await change({ firstName: 'B' });
  assert.deepEqual(
    (await told()).map(({ type, data }) => [type, data]),
    [['contact.updated', renamed]],
  );
  const left = await change({ unsubscribed: true });
  const events = await told();
  assert.deepEqual(events.map(({ type }) => type).sort(), ['contact.unsubscribed', 'contact.updated']);
  for (const { data } of events) assert.deepEqual(data, left);
  await change({ unsubscribed: true, lastName: 'C' });
  assert.deepEqual(await types(), ['contact.updated']);
  await change({ unsubscribed: false });
  assert.deepEqual(await types(), ['contact.updated']);
});

test('an upsert tells of what it did', async () => {
  const { email } = await create();
  await told();
  await create({ email, firstName: 'B' });
  assert.deepEqual(await types(), ['contact.updated']);
  await create({ email, unsubscribed: true });
  assert.deepEqual(await types(), ['contact.unsubscribed', 'contact.updated']);
  await create({ email, unsubscribed: false, firstName: 'B' });
  assert.deepEqual(await types(), []);
});

test('a request that changes nothing, or is refused, records no event', async () => {
  const { id, email } = await create({ firstName: 'A' });
  await create({ email: 'taken@example.com' });
  await told();
  await create({ email, firstName: 'A' });
  const asks: [body: object, status: number][] = [
    [{}, 200],
    [{ firstName: 'A' }, 200],
    [{ email: 'taken@example.com' }, 409],
    [{ topics: [{ id: 'top_1', subscription: 'opt_in' }] }, 400],
  ];
  for (const [body, status] of asks) {
    assert.equal((await world.request('PATCH', `${PATH}/${id}`, { body })).status, status);
  }
  assert.equal((await world.request('POST', PATH, { body: { email } })).status, 409);
  assert.deepEqual(await types(), []);
});

test('a deletion is told with the contact as it was', async () => {
  const contact = await create({ unsubscribed: true });
  await told();
  await world.request('DELETE', `${PATH}/${contact.email}`);
  assert.deepEqual(
    (await told()).map(({ type, data }) => [type, data]),
    [['contact.deleted', contact]],
  );
});

test('a topic that is deleted is not told of any more', async () => {
  const topic = (await world.request('POST', '/v1/topics', { body: { name: 't' } })).body;
  const contact = await create({ topics: [{ id: topic.id, subscription: 'opt_out' }] });
  await world.request('DELETE', `/v1/topics/${topic.id}`);
  await told();
  await world.request('PATCH', `${PATH}/${contact.id}`, { body: { firstName: 'A' } });
  await world.request('DELETE', `${PATH}/${contact.id}`);
  assert.deepEqual(
    (await told()).map(({ data }) => data['topics']),
    [[], []],
  );
});

test('the samples of a test post have the fields of the real ones', async () => {
  const contact = await create({ unsubscribed: true });
  for (const type of [
    'contact.created',
    'contact.updated',
    'contact.deleted',
    'contact.unsubscribed',
  ] as const) {
    assert.deepEqual(Object.keys(sampleData(type, 0)).sort(), Object.keys(contact).sort());
  }
});
