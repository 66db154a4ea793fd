import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/db/operation.ts';
import type { Id } from '../../src/system/ids.ts';
import { countReplayable, makeSliceDueAgain } from '../../src/webhooks/deliveries/store.ts';
import { createReplayKind } from '../../src/webhooks/log/replay.ts';
import { verifySignature } from '../../src/webhooks/posting/signature.ts';
import { explain } from '../support/explain.ts';
import { leaseTasksOf } from '../support/tasks.ts';
import { ended, only, shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const DAY = 86_400_000;
const iso = (epochMs: number) => new Date(epochMs).toISOString();
const replay = (world: WebhookWorld, endpoint: string, delivery: string) =>
  world.test.request('POST', `/v1/webhooks/${endpoint}/deliveries/${delivery}/replay`);
const replaySince = (world: WebhookWorld, endpoint: string, body: unknown) =>
  world.test.request('POST', `/v1/webhooks/${endpoint}/replay`, { body });

type State = 'pending' | 'delivered' | 'failed' | 'skipped';

/** The outcome of the last attempt of each added delivery. */
const TRIED = {
  ...{ attempts: 8, responseStatus: 503, responseTimeMs: 7, responseBody: 'no' },
  error: 'The receiver answered 503',
};

/** A delivery that has come to its end, or waits to be tried again in a day. */
async function addDelivery(
  world: WebhookWorld,
  endpointId: Id<'wh'>,
  { state, at = world.startMs - DAY, eventId }: { state: State; at?: number; eventId?: Id<'evt'> },
): Promise<Id<'whd'>> {
  const [id] = await world.addDeliveries({
    ...{ endpointId, eventId: eventId ?? (await eventOf(world)), state, createdAt: at, ...TRIED },
    dueAt: state === 'pending' ? world.startMs + DAY : null,
  });
  assert.ok(id);
  return id;
}

/** Of which no delivery is made. */
async function eventOf(world: WebhookWorld): Promise<Id<'evt'>> {
  const id = await world.record();
  await world.side.updateTable('events').set({ fannedOut: 1 }).execute();
  return id;
}

for (const state of ['delivered', 'failed', 'skipped', 'pending'] as const) {
  test(`a delivery that is ${state} is posted again, as the same event`, () =>
    inWorld(async (world) => {
      const { id: endpoint } = await world.createEndpoint();
      const eventId = await eventOf(world);
      const id = await addDelivery(world, endpoint, { state, eventId });
      const { status, body } = await replay(world, endpoint, id);
      assert.equal(status, 202);
      assert.deepEqual(body, {
        ...{ id, eventId, eventType: 'email.delivered', status: 'pending', attempts: 0 },
        ...{ responseStatus: null, responseTimeMs: null, responseBody: null, error: null },
        ...{ nextAttemptAt: iso(world.startMs), createdAt: iso(world.startMs - DAY) },
      });
      world.start();
      await ended(world);
      const [post, ...more] = world.posts;
      assert.deepEqual(
        [more.length, post?.headers['webhook-id'], post?.headers['x-service-delivery']],
        [0, eventId, id],
      );
      const after = await only(world);
      assert.deepEqual([after.state, after.attempts, after.responseStatus], ['delivered', 1, 200]);
    }));
}

test('a replay wakes the running worker', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    const id = await addDelivery(world, endpoint, { state: 'failed' });
    world.start();
    await world.clock.advance(1_000);
    await replay(world, endpoint, id);
    await until(world, 'it is posted', () => world.posts.length === 1);
    await ended(world);
    await addDelivery(world, endpoint, { state: 'skipped' });
    await replaySince(world, endpoint, { since: iso(world.startMs - 2 * DAY) });
    await until(world, 'the other is posted too', () => world.posts.length === 2);
    await ended(world);
  }));

test('a replayed delivery is tried as often as a new one', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    const id = await addDelivery(world, endpoint, { state: 'failed' });
    world.answer(() => ({ status: 500 }));
    await replay(world, endpoint, id);
    world.start();
    for (const delay of [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1_000)) {
      const dueAt = world.clock.now() + delay;
      await until(world, `it is due again at ${dueAt}`, async () => (await only(world)).dueAt === dueAt);
      await world.clock.advance(delay);
    }
    await ended(world);
    assert.deepEqual([world.posts.length, (await only(world)).state], [8, 'failed']);
  }));

test('a delivery that is being posted is not replayed', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    const gate = Promise.withResolvers<{ status: number }>();
    world.answer(() => gate.promise);
    await world.record();
    world.start();
    await until(world, 'it is under way', () => world.posts.length === 1);
    const before = await only(world);
    const { status, body } = await replay(world, endpoint, before.id);
    assert.deepEqual([status, body.error.type], [409, 'invalid_state']);
    assert.match(body.error.message, /being posted/);
    assert.deepEqual(await only(world), before);
    gate.resolve({ status: 200 });
    await ended(world);
    assert.equal((await replay(world, endpoint, before.id)).status, 202);
    await until(world, 'it is posted again', () => world.posts.length === 2);
    await ended(world);
  }));

test('nothing is replayed to a disabled endpoint', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    const id = await addDelivery(world, endpoint, { state: 'failed' });
    await world.test.request('PATCH', `/v1/webhooks/${endpoint}`, { body: { status: 'disabled' } });
    const before = await only(world);
    for (const { status, body } of [
      await replay(world, endpoint, id),
      await replaySince(world, endpoint, { since: iso(0) }),
    ]) {
      assert.deepEqual([status, body.error.type], [409, 'invalid_state']);
      assert.match(body.error.message, /disabled/);
    }
    assert.deepEqual(await only(world), before);
    await world.test.request('PATCH', `/v1/webhooks/${endpoint}`, { body: { status: 'enabled' } });
    assert.equal((await replay(world, endpoint, id)).status, 202);
  }));

test('a delivery shows the very bytes that are posted', () =>
  inWorld(async (world) => {
    const { id: endpoint, secret } = await world.createEndpoint();
    await world.record({ data: { subject: 'Grüße "1"\u2028' } });
    world.start();
    await ended(world);
    const { id } = await only(world);
    const [listed] = (await world.test.request('GET', `/v1/webhooks/${endpoint}/deliveries`)).body.data;
    const { status, body } = await world.test.request('GET', `/v1/webhooks/${endpoint}/deliveries/${id}`);
    assert.equal(status, 200);
    const { requestBody, ...shown } = body;
    assert.deepEqual(shown, listed);
    const [post] = world.posts;
    assert.equal(requestBody, post?.body);
    const header = post?.headers['X-Service-Signature'] ?? '';
    assert.ok(
      verifySignature({ secret, header, body: String(requestBody), nowSeconds: world.startMs / 1_000 }),
    );
  }));

test('everything that failed or was skipped since a time is replayed, and nothing else', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    const { id: neighbour } = await world.createEndpoint();
    const since = world.startMs - DAY;
    const eventId = await eventOf(world);
    const add = (endpointId: Id<'wh'>, state: State, at: number) =>
      addDelivery(world, endpointId, { state, at, eventId });
    const left = [
      await add(endpoint, 'failed', since - 1),
      await add(endpoint, 'skipped', since - 1),
      await add(endpoint, 'delivered', since),
      await add(endpoint, 'failed', world.startMs + 1),
      await add(endpoint, 'pending', since),
      await add(neighbour, 'failed', since),
      await add(neighbour, 'skipped', since),
    ];
    const failed = [await add(endpoint, 'failed', since), await add(endpoint, 'failed', world.startMs)];
    const skipped = [await add(endpoint, 'skipped', since), await add(endpoint, 'skipped', since + 5)];
    const untouched = (await world.deliveries()).filter((row) => left.includes(row.id));
    const dueNow = async () =>
      (await world.deliveries()).flatMap(({ id, state, dueAt, attempts, error, responseStatus }) =>
        state === 'pending' && dueAt === world.startMs && attempts === 0
          ? [[id, error, responseStatus] as const]
          : [],
      );
    const as = (ids: string[]) => ids.toSorted().map((id) => [id, null, null]);

    const first = await replaySince(world, endpoint, { since: iso(since), status: 'skipped' });
    assert.deepEqual([first.status, first.body], [202, { count: 2 }]);
    assert.deepEqual(await dueNow(), as(skipped));
    assert.deepEqual((await replaySince(world, endpoint, { since: iso(since) })).body, { count: 2 });
    assert.deepEqual(await dueNow(), as([...failed, ...skipped]));
    assert.deepEqual(
      (await world.deliveries()).filter((row) => left.includes(row.id)),
      untouched,
    );
    assert.deepEqual((await replaySince(world, endpoint, { since: iso(since) })).body, { count: 0 });
  }));

test('a delivery past its retention is not replayed, even while its row still exists', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    await addDelivery(world, endpoint, { state: 'failed', at: world.startMs - 30 * DAY - 1 });
    await addDelivery(world, endpoint, { state: 'failed', at: world.startMs - 30 * DAY });
    for (const [since, count] of [
      ['0000-01-01T00:00Z', 1],
      ['9999-12-31T23:59:59+14:00', 0],
    ] as const) {
      assert.deepEqual((await replaySince(world, endpoint, { since })).body, { count }, since);
    }
  }));

async function addMany(world: WebhookWorld, endpointId: Id<'wh'>, count: number): Promise<void> {
  const eventId = await eventOf(world);
  const rows = Array.from({ length: count }, (_, index) => {
    const createdAt = world.startMs - DAY + index;
    return { endpointId, eventId, state: 'failed' as const, attempts: 8, createdAt };
  });
  await world.addDeliveries(...rows);
}

/** Of how many deliveries of the endpoint, in their order, each is pending. */
async function begun(world: WebhookWorld, endpointId: Id<'wh'>): Promise<boolean[]> {
  const rows = (await world.deliveries()).filter((row) => row.endpointId === endpointId);
  return rows.map(({ state }) => state === 'pending');
}

const first = (count: number, of: number) => Array.from({ length: of }, (_, index) => index < count);

/** Takes one step of the replay of an endpoint, as after a crash. Returns false when there is none. */
async function goOn({ test: { app }, clock }: WebhookWorld, endpoint: string): Promise<boolean> {
  const [task] = await leaseTasksOf(
    { ...app, clock, runId: 'e' },
    { kind: 'webhook-replays', queue: endpoint },
  );
  if (!task) return false;
  await createReplayKind(app).run(task);
  return true;
}

test('a large replay makes the oldest five hundred deliveries due at once, and the worker the others later', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    await addMany(world, endpoint, 1_250);
    const { status, body } = await replaySince(world, endpoint, { since: iso(0) });
    assert.deepEqual([status, body], [202, { count: 1_250 }]);
    assert.deepEqual(await begun(world, endpoint), first(500, 1_250));
    for (const count of [1_000, 1_250]) {
      assert.ok(await goOn(world, endpoint));
      assert.deepEqual(await begun(world, endpoint), first(count, 1_250));
    }
    assert.ok(!(await goOn(world, endpoint)));
  }));

test('a running worker goes on with a replay, and what it begins is posted', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    await addMany(world, endpoint, 501);
    world.answer(() => new Error('unreachable'));
    world.start();
    await world.clock.advance(1_000);
    await replaySince(world, endpoint, { since: iso(0) });
    await until(world, 'all have begun anew', async () =>
      (await begun(world, endpoint)).every((isPending) => isPending),
    );
    await until(world, 'some are posted', () => world.posts.length > 0);
  }));

test('a replay that is requested while another is running is merged with it, and no delivery is left out', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    await addMany(world, endpoint, 1_250);
    await replaySince(world, endpoint, { since: iso(0) });
    await world.clock.advance(1_000);
    await addDelivery(world, endpoint, { state: 'failed', at: world.clock.now() });
    await replaySince(world, endpoint, { since: iso(world.startMs - DAY + 600) });
    while (await goOn(world, endpoint));
    assert.deepEqual(await begun(world, endpoint), first(1_251, 1_251));
  }));

for (const [what, end] of [
  ['disabled', { method: 'PATCH', body: { status: 'disabled' } }],
  ['deleted', { method: 'DELETE', body: undefined }],
] as const) {
  test(`an endpoint that is ${what} meanwhile ends the replay, for good`, () =>
    inWorld(async (world) => {
      const { id: endpoint } = await world.createEndpoint();
      await addMany(world, endpoint, 750);
      await replaySince(world, endpoint, { since: iso(0) });
      await world.test.request(end.method, `/v1/webhooks/${endpoint}`, { body: end.body });
      await world.test.request('PATCH', `/v1/webhooks/${endpoint}`, { body: { status: 'enabled' } });
      await goOn(world, endpoint);
      const states = (await world.deliveries()).map(({ state }) => state);
      assert.deepEqual(
        [states.slice(0, 500), states.slice(500)].map((part) => [...new Set(part)]),
        [[what === 'disabled' ? 'skipped' : 'failed'], ['failed']],
      );
    }));
}

test('the deliveries of a replay are counted up to a limit', () =>
  inWorld(async (world) => {
    const { id: endpointId } = await world.createEndpoint();
    await addMany(world, endpointId, 5);
    const of = { endpointId, states: ['failed', 'skipped'], afterId: 'whd_', beforeId: 'whd_z' } as const;
    for (const [limit, count] of [
      [9, 5],
      [3, 3],
    ] as const) {
      assert.equal(await world.test.app.db.query(countReplayable, { ...of, limit }), count);
    }
  }));

test('a replay is counted and begun from the index of the state and not sorted', async () => {
  const index = 'INDEX webhookDeliveriesByState (endpointId=? AND state=? AND id>? AND id<?)';
  const of = { endpointId: 'wh_1', afterId: 'whd_1', beforeId: 'whd_9' } as const;
  for (const run of [
    (tx: Tx) => makeSliceDueAgain(tx, { ...of, state: 'failed', now: 1 }),
    (tx: Tx) => countReplayable.run(tx, { ...of, states: ['failed', 'skipped'], limit: 9 }),
  ]) {
    const plan = await explain(run);
    assert.ok(
      plan.some((line) => line.includes(index)),
      plan.join('\n'),
    );
    assert.ok(!plan.some((line) => line.includes('TEMP B-TREE')), plan.join('\n'));
  }
});

for (const [body, param] of [
  [undefined, undefined],
  [{}, 'since'],
  [{ since: 0 }, 'since'],
  [{ since: null }, 'since'],
  [{ since: 'yesterday' }, 'since'],
  [{ since: '2026-02-30T00:00:00Z' }, 'since'],
  [{ since: '2026-01-31T12:00:00' }, 'since'],
  [{ since: '2026-01-31T12:00:00Z', status: 'delivered' }, 'status'],
  [{ since: '2026-01-31T12:00:00Z', status: 'pending' }, 'status'],
  [{ since: '2026-01-31T12:00:00Z', status: null }, 'status'],
] as const) {
  test(`refused with 400: a replay of ${JSON.stringify(body)}`, () =>
    inWorld(async (world) => {
      const { id } = await world.createEndpoint();
      const { status, body: answer } = await replaySince(world, id, body);
      assert.deepEqual([status, answer.error.type, answer.error.param], [400, 'validation_error', param]);
    }));
}

test('the deliveries of a replay are counted up to a maximum, and none is posted', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    for (const state of ['failed', 'failed', 'skipped', 'delivered'] as const)
      await addDelivery(world, endpoint, { state });
    const count = (query: string) => world.test.request('GET', `/v1/webhooks/${endpoint}/replay?${query}`);
    assert.deepEqual((await count('')).body, { count: 3 });
    assert.deepEqual((await count(`since=${iso(world.startMs - 2 * DAY)}&status=failed`)).body, { count: 2 });
    assert.deepEqual((await count(`since=${iso(world.startMs)}`)).body, { count: 0 });
    assert.deepEqual((await count('maximum=2')).body, { count: 2 });
    const { status, body } = await world.test.request('GET', `/v1/webhooks/${endpoint}/replay?since=then`);
    assert.deepEqual([status, body.error.param], [400, 'since']);
    await world.test.request('PATCH', `/v1/webhooks/${endpoint}`, { body: { status: 'disabled' } });
    assert.equal((await count('')).body.error.type, 'invalid_state');
  }));
