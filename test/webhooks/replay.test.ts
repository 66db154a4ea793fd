import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../../src/db/database.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { replayAll, replaySlice } from '../../src/webhooks/deliveries/replay.ts';
import { verifySignature } from '../../src/webhooks/signature.ts';
import { explain } from '../support/explain.ts';
import { ended, inWorld, only, until, type WebhookWorld } from './webhook-world.ts';

const DAY = 86_400_000;
const iso = (epochMs: number) => new Date(epochMs).toISOString();
const replay = (world: WebhookWorld, endpoint: string, delivery: string, key = world.test.testKey) =>
  world.test.request('POST', `/v1/webhooks/${endpoint}/deliveries/${delivery}/replay`, { key });
const replaySince = (world: WebhookWorld, endpoint: string, body: unknown, key = world.test.testKey) =>
  world.test.request('POST', `/v1/webhooks/${endpoint}/replay`, { body, key });

type State = 'pending' | 'delivered' | 'failed' | 'skipped';

/** A delivery that has come to its end, or waits to be tried again in a day. */
async function addDelivery(
  world: WebhookWorld,
  endpointId: Id<'wh'>,
  { state, at = world.startMs - DAY, eventId }: { state: State; at?: number; eventId?: Id<'evt'> },
): Promise<Id<'whd'>> {
  const id = newId('whd', at);
  await world.side
    .insertInto('webhookDeliveries')
    .values({
      ...{ id, endpointId, eventId: eventId ?? (await eventOf(world)), state, attempts: 8, createdAt: at },
      ...{ tenantId: world.test.tenantId, dueAt: state === 'pending' ? world.startMs + DAY : null },
      ...{ responseStatus: 503, responseTimeMs: 7, responseBody: 'no', error: 'The receiver answered 503' },
    })
    .execute();
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

test('a running worker is told of a replay', () =>
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

test('what is being posted is not replayed', () =>
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

test('a delivery of another endpoint, tenant or mode, a missing one and a wrong id are all the same 404', () =>
  inWorld(async (world) => {
    const { id: endpoint } = await world.createEndpoint();
    const { id: neighbour } = await world.createEndpoint();
    const other = await world.test.addTenant('stranger');
    const id = await addDelivery(world, endpoint, { state: 'failed' });
    const before = await only(world);
    const { testKey, liveKey } = world.test;
    const asks: [endpoint: string, delivery: string, key: string, resource: string][] = [
      [endpoint, id, other.testKey, 'Webhook endpoint'],
      [endpoint, id, other.liveKey, 'Webhook endpoint'],
      [endpoint, id, liveKey, 'Webhook endpoint'],
      [`wh_${'0'.repeat(26)}`, id, testKey, 'Webhook endpoint'],
      [id, id, testKey, 'Webhook endpoint'],
      [neighbour, id, testKey, 'Webhook delivery'],
      [endpoint, `whd_${'0'.repeat(26)}`, testKey, 'Webhook delivery'],
      [endpoint, id.toUpperCase(), testKey, 'Webhook delivery'],
      [endpoint, 'x', testKey, 'Webhook delivery'],
      [endpoint, `${id}%00`, testKey, 'Webhook delivery'],
      [endpoint, endpoint, testKey, 'Webhook delivery'],
    ];
    for (const [endpointId, deliveryId, key, resource] of asks) {
      const path = `/v1/webhooks/${endpointId}/deliveries/${deliveryId}`;
      for (const { status, body } of [
        await world.test.request('GET', path, { key }),
        await replay(world, endpointId, deliveryId, key),
      ]) {
        assert.deepEqual([status, body.error.message], [404, `${resource} not found`], path);
      }
    }
    for (const [endpointId, , key] of asks.slice(0, 5)) {
      const { status, body } = await replaySince(world, endpointId, { since: iso(0) }, key);
      assert.deepEqual([status, body.error.message], [404, 'Webhook endpoint not found']);
    }
    assert.deepEqual(await only(world), before);
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

test('what is kept no longer is not replayed, though it may still be there', () =>
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

/** Runs `meanwhile` after so many slices. */
function counting(world: WebhookWorld, sizes: number[], meanwhile?: () => Promise<unknown>) {
  const { db, clock, notices } = world.test.app;
  const commit: Db['commit'] = async (write, input) => {
    const result = await db.commit(write, input);
    sizes.push((result as { count: number }).count);
    await meanwhile?.();
    return result;
  };
  return { clock, notices, db: { ...db, commit } };
}

async function addMany(world: WebhookWorld, endpointId: Id<'wh'>, count: number): Promise<void> {
  const eventId = await eventOf(world);
  const rows = Array.from({ length: count }, (_, index) => ({
    ...{ id: newId('whd', world.startMs - DAY + index), endpointId, eventId, state: 'failed' as const },
    ...{ tenantId: world.test.tenantId, attempts: 8, createdAt: world.startMs - DAY + index },
  }));
  for (let at = 0; at < count; at += 1_000) {
    await world.side
      .insertInto('webhookDeliveries')
      .values(rows.slice(at, at + 1_000))
      .execute();
  }
}

test('many are replayed five hundred at a time, the oldest first', () =>
  inWorld(async (world) => {
    const { id: endpointId } = await world.createEndpoint();
    await addMany(world, endpointId, 1_250);
    const sizes: number[] = [];
    const owner = { tenantId: world.test.tenantId, mode: 'test' as const };
    const oldest = async () =>
      assert.deepEqual(
        (await world.deliveries()).map(({ state }) => state === 'pending'),
        Array.from({ length: 1_250 }, (_, index) => index < sizes.length * 500),
      );
    const app = counting(world, sizes, oldest);
    const states = ['failed', 'skipped'] as const;
    assert.equal(await replayAll(app, { owner, endpointId }, { since: 0, states }), 1_250);
    assert.deepEqual(sizes, [500, 500, 250, 0]);
  }));

test('an endpoint that is disabled meanwhile ends the replay', () =>
  inWorld(async (world) => {
    const { id: endpointId } = await world.createEndpoint();
    await addMany(world, endpointId, 750);
    const owner = { tenantId: world.test.tenantId, mode: 'test' as const };
    const disable = () =>
      world.test.request('PATCH', `/v1/webhooks/${endpointId}`, { body: { status: 'disabled' } });
    const app = counting(world, [], disable);
    await assert.rejects(replayAll(app, { owner, endpointId }, { since: 0, states: ['failed'] }), {
      code: 'invalid_state',
    });
    const states = (await world.deliveries()).map(({ state }) => state);
    assert.deepEqual(
      [states.slice(0, 500), states.slice(500)].map((part) => [...new Set(part)]),
      [['skipped'], ['failed']],
    );
  }));

test('a slice is read from the index of its state and not sorted', async () => {
  const plan = await explain(async (tx) => {
    const endpoint = { id: 'wh_1', tenantId: 'ten_1', mode: 'test', url: '', events: '[]' } as const;
    await tx
      .insertInto('webhookEndpoints')
      .values({ ...endpoint, status: 'enabled', secretSealed: '', createdAt: 0, updatedAt: 0 })
      .execute();
    const slice = { state: 'failed', after: 'whd_1', before: 'whd_9', now: 1 } as const;
    await replaySlice.run(tx, { owner: endpoint, endpointId: 'wh_1', ...slice });
  });
  assert.ok(
    plan.some((line) =>
      line.includes('INDEX webhookDeliveriesByState (endpointId=? AND state=? AND id>? AND id<?)'),
    ),
    plan.join('\n'),
  );
  assert.ok(!plan.some((line) => line.includes('TEMP B-TREE')), plan.join('\n'));
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

test('a key that may only read sees deliveries and replays none', () =>
  inWorld(async (world) => {
    const { createApiKey } = await import('../../src/tenants/keys.ts');
    const { id: endpoint } = await world.createEndpoint();
    const id = await addDelivery(world, endpoint, { state: 'failed' });
    const { token: key } = await createApiKey(world.test.app, {
      ...{ tenantId: world.test.tenantId, name: 'reader', mode: 'test', permission: 'read_only' },
      expiresAt: null,
    });
    const path = `/v1/webhooks/${endpoint}/deliveries/${id}`;
    assert.equal((await world.test.request('GET', path, { key })).status, 200);
    assert.equal((await replay(world, endpoint, id, key)).status, 403);
    assert.equal((await replaySince(world, endpoint, { since: iso(0) }, key)).status, 403);
  }));
