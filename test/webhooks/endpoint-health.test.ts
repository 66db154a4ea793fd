/** What failing posts do to their endpoint over days: the settlements are made with times of their own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseTasks } from '../../src/tasks/store.ts';
import type { PostEffect } from '../../src/webhooks/posting/settle.ts';
import { settleDelivery } from '../../src/webhooks/settle.ts';
import { shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FAILED = {
  responseStatus: 500,
  responseTimeMs: 1,
  responseBody: '',
  error: 'The receiver answered 500',
};
const OK = { responseStatus: 200, responseTimeMs: 1, responseBody: '', error: null };

type Post = { at: number; madeAt?: number; ok?: boolean };

/** Makes a delivery and posts it, at `at`; when it fails it is due again in ten years. */
async function post(
  world: WebhookWorld,
  id: string,
  { at, madeAt = at, ok = false }: Post,
): Promise<PostEffect> {
  const endpointId = id as `wh_${string}`;
  const eventId = await world.record();
  const [deliveryId] = await world.addDeliveries({ endpointId, eventId, dueAt: at, createdAt: madeAt });
  // The worker's test covers suspensions; the times here are too close together for one.
  await world.setEndpoint({ suspendedUntil: null });
  const { db } = world.test.app;
  const claims = [{ queueKey: endpointId, limit: 1 }];
  const [lease] = await db.commit(leaseTasks, { kind: 'webhooks', now: at, runId: 'e', claims });
  assert.ok(lease);
  assert.equal(lease.reference, deliveryId);
  const [settled] = await db.commit(settleDelivery, [
    {
      ...{ lease, endpointId, url: (await world.endpoint()).url, now: at },
      ...(ok
        ? { result: OK, next: { state: 'delivered', dueAt: null }, answer: 'taken' }
        : { result: FAILED, next: { state: 'pending', dueAt: at + 3_650 * DAY }, answer: 'refused' }),
    },
  ]);
  assert.ok(settled);
  return settled.effect;
}

/** Ten deliveries made and posted in vain an hour after each other, from `from` on. */
async function failTen(world: WebhookWorld, id: string, from: number): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    assert.notEqual(await post(world, id, { at: from + count * HOUR + 1 }), 'disabled');
  }
}

test('an endpoint is failing since the first failed post after the last success', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    await post(world, id, { at: startMs, ok: true });
    assert.equal((await world.endpoint()).failingSince, null);
    await post(world, id, { at: startMs + 1 });
    await post(world, id, { at: startMs + 2 });
    const { body } = await world.test.request('GET', `/v1/webhooks/${id}`);
    assert.equal(body.failingSince, new Date(startMs + 1).toISOString());
    await post(world, id, { at: startMs + 3, ok: true });
    assert.equal((await world.endpoint()).failingSince, null);
  }));

test('after a day of failures the operator is warned once', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    const said = [];
    for (const at of [0, DAY - 1, DAY, DAY + 1, 2 * DAY])
      said.push(await post(world, id, { at: startMs + at }));
    assert.deepEqual(said, ['none', 'none', 'warned', 'none', 'none']);
    await post(world, id, { at: startMs + 3 * DAY, ok: true });
    said.length = 0;
    for (const at of [3 * DAY, 4 * DAY]) said.push(await post(world, id, { at: startMs + at }));
    assert.deepEqual(said, ['none', 'warned'], 'and again should it happen again');
  }));

test('five days without a success and ten deliveries that failed for a day disable an endpoint', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    await failTen(world, id, startMs);
    const firstMs = startMs + 1;
    assert.notEqual(await post(world, id, { at: firstMs + 5 * DAY - 1 }), 'disabled');
    assert.equal(await post(world, id, { at: firstMs + 5 * DAY }), 'disabled');
    const { status, disabledReason, disabledAt, failingSince } = await world.endpoint();
    assert.deepEqual(
      [status, disabledReason, disabledAt, failingSince],
      ['disabled', 'failures', firstMs + 5 * DAY, firstMs],
    );
    const rows = await world.deliveries();
    assert.deepEqual(
      [rows.length, new Set(rows.map((row) => row.state)), new Set(rows.map((row) => row.error))],
      [12, new Set(['skipped']), new Set(['The endpoint is disabled'])],
    );
  }));

test('nine deliveries that failed do not disable an endpoint', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    for (let count = 0; count < 9; count += 1) await post(world, id, { at: startMs + 1 + count * HOUR });
    const later = startMs + 6 * DAY;
    // Made before the failing began, or less than a day ago.
    await post(world, id, { at: later, madeAt: startMs - HOUR });
    await post(world, id, { at: later, madeAt: later - DAY + 1 });
    assert.equal((await world.endpoint()).status, 'enabled');
    assert.equal(await post(world, id, { at: later, madeAt: later - DAY - 1 }), 'disabled');
  }));

test('an outage that begins after days of silence does not disable an endpoint until it has lasted a day', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    await post(world, id, { at: startMs });
    const outage = startMs + 30 * DAY;
    for (let count = 0; count < 50; count += 1) await post(world, id, { at: outage + count });
    assert.equal((await world.endpoint()).status, 'enabled');
    assert.equal(await post(world, id, { at: outage + DAY + HOUR }), 'disabled');
  }));

test('one success among failures keeps an endpoint enabled', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    await failTen(world, id, startMs);
    await post(world, id, { at: startMs + 4 * DAY, ok: true });
    assert.notEqual(await post(world, id, { at: startMs + 6 * DAY }), 'disabled');
    assert.equal((await world.endpoint()).status, 'enabled');
  }));

test('a post that succeeded just before the failures does not count', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    for (let count = 0; count < 20; count += 1) await post(world, id, { at: startMs + count, ok: true });
    await post(world, id, { at: startMs + 1_000 });
    assert.equal(await post(world, id, { at: startMs + 6 * DAY }), 'warned');
    assert.equal((await world.endpoint()).status, 'enabled');
  }));

test('deliveries that were never posted do not count', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    await post(world, id, { at: startMs });
    for (let count = 0; count < 20; count += 1) {
      const unposted = { eventId: await world.record(), dueAt: startMs + 20 * DAY };
      await world.addDeliveries({ endpointId: id, ...unposted, createdAt: startMs + 1 + count });
    }
    await post(world, id, { at: startMs + 6 * DAY });
    assert.equal((await world.endpoint()).status, 'enabled');
  }));

test('after it was enabled again an endpoint has five days more', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    await failTen(world, id, startMs);
    assert.equal(await post(world, id, { at: startMs + 6 * DAY }), 'disabled');
    await world.test.request('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    await failTen(world, id, startMs + 7 * DAY);
    assert.notEqual(await post(world, id, { at: startMs + 11 * DAY }), 'disabled');
    assert.equal(await post(world, id, { at: startMs + 12 * DAY + 1 }), 'disabled');
  }));

test('the log tells the operator that an endpoint was disabled', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { startMs } = world;
    world.answer(() => ({ status: 500 }));
    await failTen(world, id, startMs - 6 * DAY);
    await world.setEndpoint({ warnedAt: null });
    await world.side
      .updateTable('tasks')
      .set({ dueAt: startMs + DAY })
      .execute();
    await world.setEndpoint({ failingSince: startMs - DAY });
    world.start();
    await world.record();
    await until(world, 'it was warned of', () => world.logged.length === 1);
    await world.setEndpoint({ failingSince: startMs - 6 * DAY, suspendedUntil: null });
    await world.record();
    await until(world, 'it was disabled', () => world.logged.length === 2);
    assert.deepEqual(
      world.logged.map(({ msg, endpointId, error }) => [msg, endpointId, error]),
      [
        ['webhook endpoint has taken nothing for a day', id, 'The receiver answered 500'],
        ['webhook endpoint disabled: it has taken nothing for days', id, 'The receiver answered 500'],
      ],
    );
  }));
