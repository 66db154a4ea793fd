import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { SuppressionReason } from '../../src/db/marketing-tables.ts';
import { addSuppressions } from '../../src/suppressions/change.ts';
import { findSuppressed } from '../../src/suppressions/store.ts';
import { newId } from '../../src/system/ids.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestMethod } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const PATH = '/v1/suppressions';
const add = (body: unknown, key = world.testKey) => world.request('POST', PATH, { key, body });
const ask = (method: TestMethod, id: string, key = world.testKey) =>
  world.request(method, `${PATH}/${encodeURIComponent(id)}`, { key });
const eventsOf = (tenantId = world.tenantId) =>
  world.app.db.read
    .selectFrom('events')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('type', 'like', 'suppression.%')
    .execute();

/** What `run` made the endpoints of the tenant hear of, oldest first. */
async function newEvents(run: () => Promise<unknown>) {
  const before = new Set((await eventsOf()).map(({ id }) => id));
  await run();
  return (await eventsOf())
    .filter(({ id }) => !before.has(id))
    .map(({ type, mode, emailId, data }) => ({ type, mode, emailId, data: JSON.parse(data) }));
}

test('an address is suppressed with its whole record, and retrieved the same with either key', async () => {
  const created = await add({ email: 'Whole@Example.com', reason: 'complaint' });
  assert.equal(created.status, 201);
  const { id } = created.body;
  assert.match(id, /^sup_[0-9a-z]{26}$/);
  assert.deepEqual(created.body, {
    id,
    email: 'whole@example.com',
    reason: 'complaint',
    sourceEmailId: null,
    diagnostic: null,
    createdAt: new Date(NOW).toISOString(),
  });
  for (const key of [world.testKey, world.liveKey]) {
    for (const name of [id, 'whole@example.com', 'WHOLE@Example.COM', 'Whole <whole@example.com>']) {
      const got = await ask('GET', name, key);
      assert.deepEqual([got.status, got.body], [200, created.body], name);
    }
  }
  assert.equal((await findSuppressed(world.app.db.read, world.tenantId, ['whole@EXAMPLE.com'])).size, 1);
});

test('a suppression after a bounce shows its email and the text of the reply', async () => {
  const row = {
    id: newId('sup', NOW),
    tenantId: world.tenantId,
    email: 'bounced@example.com',
    reason: 'bounce',
    sourceEmailId: 'em_1',
    diagnostic: '550 5.1.1 no such user',
    createdAt: NOW,
  } as const;
  await world.app.db.commit(addSuppressions, { wanted: [row], cause: { mode: 'live', now: NOW } });
  const { sourceEmailId, diagnostic, reason } = (await ask('GET', row.id)).body;
  assert.deepEqual([sourceEmailId, diagnostic, reason], ['em_1', '550 5.1.1 no such user', 'bounce']);
});

test('the reason is manual unless it is said', async () => {
  const { body } = await add({ email: 'unsaid@example.com', unknown: 1 });
  assert.equal(body.reason, 'manual');
});

test('adding again answers 200 with the record there is, which keeps the stronger reason', async () => {
  const first = (await add({ email: 'again@example.com', reason: 'unsubscribe' })).body;
  await clock.advance(1_000);
  for (const [reason, kept] of [
    ['manual', 'unsubscribe'],
    ['bounce', 'bounce'],
    ['unsubscribe', 'bounce'],
    ['complaint', 'complaint'],
  ]) {
    const again = await add({ email: 'AGAIN@example.com', reason });
    assert.deepEqual([again.status, again.body], [200, { ...first, reason: kept }]);
  }
});

const BAD: [name: string, body: unknown, param: string | undefined][] = [
  ['no address', {}, 'email'],
  ['an address that is null', { email: null }, 'email'],
  ['an address that is a number', { email: 1 }, 'email'],
  ['an empty address', { email: '' }, 'email'],
  ['two addresses', { email: 'a@b.example, c@d.example' }, 'email'],
  ['a domain alone', { email: 'example.com' }, 'email'],
  ['a line break in the address', { email: 'a@b.example\n' }, 'email'],
  ['a NUL in the address', { email: 'a\0@b.example' }, 'email'],
  ['a lone surrogate in the address', { email: 'a\ud800@b.example' }, 'email'],
  ['an address of 255 characters', { email: `a@${'b'.repeat(60)}.`.repeat(4) }, 'email'],
  ['a reason nobody knows', { email: 'a@b.example', reason: 'spite' }, 'reason'],
  ['a reason that is null', { email: 'a@b.example', reason: null }, 'reason'],
  ['a field in another case', { email: 'a@b.example', Reason: 'bounce' }, 'Reason'],
];
for (const [name, body, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const answer = await add(body);
    assert.deepEqual(
      [answer.status, answer.body.error.type, answer.body.error.param],
      [400, 'validation_error', param],
    );
  });
}

test('a suppression is removed by its id or its address, once', async () => {
  for (const by of ['id', 'email'] as const) {
    const { body } = await add({ email: `removed-by-${by}@example.com` });
    const name = by === 'id' ? body.id : body.email.toUpperCase();
    const first = await ask('DELETE', name);
    assert.deepEqual([first.status, first.body], [204, '']);
    assert.equal((await ask('DELETE', name)).status, 404);
    assert.equal((await ask('GET', body.id)).status, 404);
    assert.equal((await findSuppressed(world.app.db.read, world.tenantId, [body.email])).size, 0);
    assert.equal((await add({ email: body.email })).status, 201);
  }
});

async function fill(name: string) {
  const { testKey: key } = await world.addTenant(name);
  const ids: string[] = [];
  const reasons: SuppressionReason[] = ['manual', 'bounce', 'manual'];
  for (const [index, reason] of reasons.entries()) {
    await clock.advance(1_000);
    ids.unshift((await add({ email: `r${index}@example.com`, reason }, key)).body.id);
  }
  const list = async (query: string) => {
    const { body } = await world.request('GET', `${PATH}?${query}`, { key });
    return [body.data.map(({ id }: { id: string }) => id), body.hasMore, body.nextCursor];
  };
  return { ids, key, list };
}

test('the list is narrowed by address, reason and time', async () => {
  const { ids, list } = await fill('filterer');
  const at = (ageMs: number) => encodeURIComponent(new Date(clock.now() - ageMs).toISOString());
  assert.deepEqual(await list('reason=manual'), [[ids[0], ids[2]], false, null]);
  assert.deepEqual(await list('reason=manual&limit=1'), [[ids[0]], true, ids[0]]);
  assert.deepEqual(await list('reason=complaint'), [[], false, null]);
  assert.deepEqual(await list('email=R1%40EXAMPLE.com'), [[ids[1]], false, null]);
  assert.deepEqual(await list('email=r1@example.com&reason=manual'), [[], false, null]);
  assert.deepEqual(await list('email=nobody@example.com'), [[], false, null]);
  assert.deepEqual(await list(`createdAfter=${at(1_000)}`), [ids.slice(0, 2), false, null]);
  assert.deepEqual(await list(`createdBefore=${at(1_000)}`), [ids.slice(2), false, null]);
  assert.deepEqual(await list(`createdAfter=${at(1_000)}&reason=bounce`), [[ids[1]], false, null]);
});

for (const [query, param] of [
  ['email=nobody', 'email'],
  ['email=', 'email'],
  ['email=a+b@example.com', 'email'],
  ['reason=spite', 'reason'],
]) {
  test(`a list is refused with 400: ${query}`, async () => {
    const { status, body } = await world.request('GET', `${PATH}?${query}`);
    assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', param]);
  });
}

test('endpoints hear of what is added and removed, in the mode of the key, and of nothing else', async () => {
  const { testKey, liveKey } = world;
  for (const [key, mode] of [
    [testKey, 'test'],
    [liveKey, 'live'],
  ] as const) {
    const email = `told-${mode}@example.com`;
    const added = await newEvents(() => add({ email, reason: 'unsubscribe' }, key));
    const data = (await ask('GET', email, key)).body;
    assert.deepEqual(added, [{ type: 'suppression.added', mode, emailId: null, data }]);
    assert.deepEqual(await newEvents(() => add({ email }, key)), []);
    assert.deepEqual(await newEvents(() => add({ email, reason: 'complaint' }, key)), []);
    const removed = await newEvents(() => ask('DELETE', email, key));
    const last = { ...data, reason: 'complaint' };
    assert.deepEqual(removed, [{ type: 'suppression.removed', mode, emailId: null, data: last }]);
    assert.deepEqual(await newEvents(() => ask('DELETE', email, key)), []);
  }
});

const ATEXT = [..."abcXYZ019!#$%&'*+-/=?^_`{|}~"];
/** A local part that a receiver would decode as an encoded-word is refused (RFC 2047 section 5). */
const localPart = fc
  .string({ unit: fc.constantFrom(...ATEXT), minLength: 1, maxLength: 64 })
  .filter((text) => !text.includes('=?'));
const label = fc.stringMatching(/^[a-zA-Z0-9]{1,20}$/);

test('an address is found by any of its spellings, in the path and in the filter', async () => {
  await fc.assert(
    fc.asyncProperty(localPart, label, async (local, host) => {
      const email = `${local}@${host}.example`;
      const created = await add({ email });
      assert.ok([200, 201].includes(created.status), email);
      for (const spelling of [email, email.toUpperCase(), email.toLowerCase()]) {
        assert.deepEqual((await ask('GET', spelling)).body, created.body, spelling);
        const query = new URLSearchParams({ email: spelling });
        const listed = await world.request('GET', `${PATH}?${query}`);
        assert.deepEqual(listed.body.data, [created.body], spelling);
      }
    }),
    { numRuns: 60 },
  );
});
