/** A deleted audience: hidden at once, cleared in slices by the worker. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clearDeleted, createAudienceSweep } from '../../src/audiences/delete.ts';
import { startWork } from '../../src/system/worker.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const world = await openTestApp();
after(() => world.close());
const { request } = world;

async function audienceOf(addresses: readonly string[]): Promise<string> {
  const { id } = (await request('POST', '/v1/audiences', { body: { name: 'a' } })).body;
  for (const email of addresses) {
    const created = await request('POST', `/v1/audiences/${id}/contacts`, { body: { email } });
    assert.equal(created.status, 201);
  }
  return id;
}

async function rowsOf(audienceId: string): Promise<[audiences: number, contacts: number]> {
  const { read } = world.app.db;
  const audiences = await read.selectFrom('audiences').selectAll().execute();
  const contacts = await read.selectFrom('contacts').selectAll().execute();
  return [
    audiences.filter(({ id }) => id === audienceId).length,
    contacts.filter((contact) => contact.audienceId === audienceId).length,
  ];
}

/** What is left of the audience after each slice, until there is nothing to clear. */
async function clear(limit: number, audienceId = ''): Promise<[number, number][]> {
  const left: [number, number][] = [];
  while (await world.app.db.commit(clearDeleted, { limit })) {
    left.push(await rowsOf(audienceId));
    assert.ok(left.length < 100, 'the clearing comes to no end');
  }
  return left;
}

const ADDRESSES = ['a@b.example', 'b@b.example', 'c@b.example', 'd@b.example', 'e@b.example'];

test('from the moment it is deleted nothing of it is found, though its rows are there', async () => {
  const id = await audienceOf(ADDRESSES);
  const contact = (await request('GET', `/v1/audiences/${id}/contacts/a@b.example`)).body;
  assert.equal((await request('DELETE', `/v1/audiences/${id}`)).status, 204);
  assert.deepEqual(await rowsOf(id), [1, 5]);
  const path = `/v1/audiences/${id}/contacts`;
  const asks = [
    await request('GET', path),
    await request('POST', path, { body: { email: 'f@b.example' } }),
    await request('POST', `${path}?upsert=true`, { body: { email: 'a@b.example' } }),
    await request('GET', `${path}/${contact.id}`),
    await request('GET', `${path}/a@b.example`),
    await request('PATCH', `${path}/a@b.example`, { body: { firstName: 'A' } }),
    await request('DELETE', `${path}/a@b.example`),
    await request('DELETE', `/v1/audiences/${id}`),
  ];
  for (const { status, body } of asks) {
    assert.deepEqual([status, body.error.message], [404, 'Audience not found']);
  }
  assert.deepEqual(await rowsOf(id), [1, 5]);
});

test('a deleted audience is cleared slice by slice, its row last, and no other audience is touched', async () => {
  const [doomed, spared] = [await audienceOf(ADDRESSES), await audienceOf(ADDRESSES)];
  await clear(100);
  await request('DELETE', `/v1/audiences/${doomed}`);
  assert.deepEqual(await clear(2, doomed), [
    [1, 3],
    [1, 1],
    [0, 0],
  ]);
  assert.deepEqual(await rowsOf(spared), [1, 5]);
  const { body } = await request('GET', `/v1/audiences/${spared}`);
  assert.equal(body.contactCount, 5);
});

test('an audience whose contacts fill its slices exactly is removed all the same', async () => {
  const id = await audienceOf(ADDRESSES.slice(0, 4));
  await request('DELETE', `/v1/audiences/${id}`);
  await clear(2);
  assert.deepEqual(await rowsOf(id), [0, 0]);
});

test('deleting an audience deletes its segments in the same write', async () => {
  const id = await audienceOf([]);
  const filter = { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] };
  const made = await request('POST', '/v1/segments', { body: { name: 's', audienceId: id, filter } });
  assert.equal(made.status, 201);
  await request('DELETE', `/v1/audiences/${id}`);
  assert.equal((await request('GET', `/v1/segments/${made.body.id}`)).status, 404);
});

test('the worker clears what is deleted before and after its start, without being asked again', async () => {
  const before = await audienceOf(ADDRESSES);
  await request('DELETE', `/v1/audiences/${before}`);
  const work = startWork(world.app, createAudienceSweep(world.app));
  const later = await audienceOf(ADDRESSES);
  await request('DELETE', `/v1/audiences/${later}`);
  for (const id of [before, later]) {
    await waitUntil(async () => (await rowsOf(id)).every((count) => count === 0), 'the worker clears it');
  }
  await work.stop(1_000);
  assert.deepEqual(await world.app.db.commit(clearDeleted, { limit: 1 }), false);
});
