import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fanOutEvents } from '../../src/webhooks/fan-out.ts';
import { shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const fanOut = (world: WebhookWorld, limit = 500) =>
  world.test.app.db.commit(fanOutEvents, { now: world.clock.now(), limit });
const NOTHING = { events: 0, deliveries: 0 };
const pairs = async (world: WebhookWorld) =>
  (await world.deliveries()).map((row) => `${row.endpointId} ${row.eventId}`).sort();

test('an event wakes the fan-out when its tenant has an endpoint in its mode', () =>
  inWorld(async (world) => {
    let woken = 0;
    const stop = world.test.app.wakeups.listen('events', () => {
      woken += 1;
    });
    const suppress = (email: string) =>
      world.test.request('POST', '/v1/suppressions', { body: { email, reason: 'manual' } });
    assert.equal((await suppress('ann@readers.example')).status, 201);
    assert.equal(woken, 0);
    await world.createEndpoint({ events: ['suppression.added'] });
    woken = 0;
    assert.equal((await suppress('bob@readers.example')).status, 201);
    await until(world, 'the fan-out wakes', () => woken > 0);
    stop();
  }));

test('an event becomes a delivery for each endpoint of its tenant and mode that asked for its type', () =>
  inWorld(async (world) => {
    const other = await world.test.addTenant('other');
    const first = await world.createEndpoint({ events: ['email.delivered', 'email.bounced'] });
    const second = await world.createEndpoint({ events: ['email.bounced'] });
    await world.createEndpoint({ events: ['email.bounced'], key: world.test.liveKey });
    const foreign = await world.createEndpoint({ events: ['email.bounced'], key: other.testKey });

    const delivered = await world.record({ type: 'email.delivered' });
    const bounced = await world.record({ type: 'email.bounced' });
    await world.record({ type: 'email.opened' });
    const theirs = await world.record({ type: 'email.bounced', tenantId: other.tenantId });
    assert.deepEqual(await fanOut(world), { events: 4, deliveries: 4 });
    assert.deepEqual(
      await pairs(world),
      [
        `${first.id} ${delivered}`,
        `${first.id} ${bounced}`,
        `${second.id} ${bounced}`,
        `${foreign.id} ${theirs}`,
      ].sort(),
    );
    const [row] = await world.deliveries();
    assert.match(row?.id ?? '', /^whd_/);
    assert.deepEqual([row?.state, row?.attempts, row?.dueAt], ['pending', 0, world.startMs]);
  }));

test('an event is fanned out once, whoever asks again', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    await world.record();
    assert.deepEqual(await fanOut(world), { events: 1, deliveries: 1 });
    assert.deepEqual(await fanOut(world), NOTHING);
    assert.equal((await world.deliveries()).length, 1);
  }));

test('batches take the oldest events first and leave none', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.push(await world.record());
      await world.clock.advance(1);
    }
    const taken: string[][] = [];
    for (const events of [2, 2, 1, 0]) {
      assert.deepEqual(await fanOut(world, 2), { events, deliveries: events });
      taken.push((await world.deliveries()).map((row) => row.eventId).sort());
    }
    assert.deepEqual(taken, [ids.slice(0, 2), ids.slice(0, 4), ids, ids]);
  }));

test('for a disabled endpoint an event is kept as skipped, for a deleted one not at all', () =>
  inWorld(async (world) => {
    const disabled = await world.createEndpoint();
    const deleted = await world.createEndpoint();
    await world.test.request('PATCH', `/v1/webhooks/${disabled.id}`, { body: { status: 'disabled' } });
    await world.test.request('DELETE', `/v1/webhooks/${deleted.id}`);
    await world.record();
    await world.record({ type: 'email.opened' });
    assert.deepEqual(await fanOut(world), { events: 2, deliveries: 1 });
    const [row] = await world.deliveries();
    assert.deepEqual(
      [row?.endpointId, row?.state, row?.attempts, row?.dueAt, row?.error],
      [disabled.id, 'skipped', 0, null, 'The endpoint is disabled'],
    );
  }));

test('an event that no endpoint of its tenant and mode can have asked for never waits for the fan-out', () =>
  inWorld(async (world) => {
    await world.createEndpoint({ key: world.test.liveKey });
    const other = await world.test.addTenant('without endpoints');
    await world.record({ mode: 'test' });
    await world.record({ mode: 'live', tenantId: other.tenantId });
    assert.deepEqual(await fanOut(world), NOTHING);
    await world.record({ mode: 'live' });
    assert.deepEqual(await fanOut(world), { events: 1, deliveries: 1 });
  }));

test('a fan-out write makes about a thousand deliveries, however many endpoints ask, and leaves the rest to the next', () =>
  inWorld(async (world) => {
    for (let count = 0; count < 30; count += 1) await world.createEndpoint();
    for (let count = 0; count < 40; count += 1) await world.record();
    assert.deepEqual(await fanOut(world), { events: 34, deliveries: 1_020 });
    assert.deepEqual(await fanOut(world), { events: 6, deliveries: 180 });
    assert.equal(new Set(await pairs(world)).size, 1_200);
  }));

test('events lead to posts at once, also those that were recorded before the daemon started', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    const before = await world.record();
    world.start();
    await until(world, 'the first is posted', () => world.posts.length === 1);
    const after = await world.record();
    await until(world, 'the second is posted', () => world.posts.length === 2);
    assert.deepEqual(
      world.posts.map((post) => JSON.parse(String(post.body)).id),
      [before, after],
    );
  }));
