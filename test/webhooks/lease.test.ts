/** Leases: what becomes of a delivery whose post was interrupted, or answered too late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Id } from '../../src/system/ids.ts';
import { releaseAbandoned } from '../../src/webhooks/deliveries/store.ts';
import { fanOutEvents } from '../../src/webhooks/fan-out.ts';
import { leaseDeliveries } from '../../src/webhooks/lease.ts';
import { settleDelivery } from '../../src/webhooks/settle.ts';
import { ended, only, shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const MINUTE = 60_000;

/** One event for one endpoint, taken `times` times without being settled. */
async function leaseUnsettled(world: WebhookWorld, runId: string, times = 1): Promise<Id<'wh'>> {
  const { id: endpointId } = await world.createEndpoint();
  await world.record();
  const { db } = world.test.app;
  await db.commit(fanOutEvents, { now: world.startMs, limit: 10 });
  const claims = [{ endpointId, limit: 1 }];
  for (let attempt = 1; attempt <= times; attempt += 1) {
    const until = world.startMs + (attempt < times ? 0 : MINUTE);
    const [leased] = await db.commit(leaseDeliveries, { now: world.startMs, until, runId, claims });
    assert.equal(leased?.lease.attempts, attempt);
  }
  return endpointId;
}

test('a delivery that an earlier start left leased is posted at once, as another attempt', () =>
  inWorld(async (world) => {
    await leaseUnsettled(world, 'an earlier start');
    world.start();
    await ended(world);
    assert.equal(world.clock.now(), world.startMs);
    assert.deepEqual([(await only(world)).attempts, world.posts.length], [2, 1]);
    assert.deepEqual(
      world.logged.map(({ msg, count }) => [msg, count]),
      [['webhook posts were interrupted, and are made again', 1]],
    );
  }));

test('a delivery that four crashes have interrupted waits, so that a series of them does not use up its attempts', () =>
  inWorld(async (world) => {
    await leaseUnsettled(world, 'an earlier start', 4);
    world.start();
    await until(world, 'it is released', () => world.logged.length > 0);
    assert.equal((await only(world)).dueAt, world.startMs + 5_000);
    await world.clock.advance(5_000);
    await ended(world);
    assert.deepEqual([(await only(world)).attempts, world.posts.length], [5, 1]);
  }));

test('a delivery that this start left leased is posted when its lease ends, as another attempt', () =>
  inWorld(async (world) => {
    const { db, runId } = world.test.app;
    await leaseUnsettled(world, runId);
    world.start();
    // Writes are run in their order, so the worker's first is done when this one is.
    await db.commit(releaseAbandoned, { now: world.startMs, runId });
    await world.clock.advance(MINUTE - 1);
    assert.equal(world.posts.length, 0);
    await world.clock.advance(1);
    await ended(world);
    assert.deepEqual([(await only(world)).attempts, world.posts.length], [2, 1]);
  }));

test('a delivery left leased to an endpoint that was disabled then is skipped when its lease ends', () =>
  inWorld(async (world) => {
    const { db, runId } = world.test.app;
    const id = await leaseUnsettled(world, runId);
    await world.test.request('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    world.start();
    await db.commit(releaseAbandoned, { now: world.startMs, runId });
    await world.clock.advance(MINUTE);
    await ended(world);
    assert.deepEqual([(await only(world)).state, world.posts.length], ['skipped', 0]);
  }));

test('a settlement of a released lease changes nothing', () =>
  inWorld(async (world) => {
    const endpointId = await leaseUnsettled(world, 'an earlier start');
    const { db, runId } = world.test.app;
    await db.commit(releaseAbandoned, { now: world.startMs, runId });
    const before = await only(world);
    const effect = await db.commit(settleDelivery, {
      ...{ id: before.id, attempts: 1, runId: 'an earlier start', endpointId, now: world.startMs },
      ...{ url: 'https://receiver.example/hook', gone: true, state: 'failed', dueAt: null },
      ...{ responseStatus: 410, responseTimeMs: 1, responseBody: '', error: '' },
    });
    assert.equal(effect, 'stale');
    assert.deepEqual(await only(world), before);
  }));

test('a delivery that was interrupted at its eighth attempt is given up, and not posted for ever', () =>
  inWorld(async (world) => {
    await leaseUnsettled(world, 'an earlier start', 8);
    world.start();
    await ended(world);
    const { state, attempts, error } = await only(world);
    assert.deepEqual([state, attempts, error], ['failed', 8, 'The last attempt was interrupted']);
    assert.equal(world.posts.length, 0);
  }));

test('a post that is answered after its lease ran out changes nothing', () =>
  inWorld(async (world) => {
    const late = Promise.withResolvers<{ status: number }>();
    const second = Promise.withResolvers<{ status: number }>();
    world.answer(() => (world.posts.length === 1 ? late.promise : second.promise));
    const { id } = await world.begin();
    await until(world, 'the first is under way', () => world.posts.length === 1);
    await world.clock.advance(MINUTE);
    await until(world, 'the second is under way', () => world.posts.length === 2);
    late.resolve({ status: 410 });
    await until(world, 'it was told', () => world.logged.length > 0);
    assert.deepEqual(
      world.logged.map(({ msg, attempts }) => [msg, attempts]),
      [['webhook answered after its lease ran out', 1]],
    );
    const { state, attempts, responseStatus } = await only(world);
    assert.deepEqual([state, attempts, responseStatus], ['pending', 2, null]);
    assert.equal((await world.test.request('GET', `/v1/webhooks/${id}`)).body.status, 'enabled');
    second.resolve({ status: 201 });
    await ended(world);
    assert.equal((await only(world)).responseStatus, 201);
  }));

test('a post whose answer cannot be stored yet is not made again', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    await world.record();
    await sql`CREATE TRIGGER full_disk BEFORE UPDATE OF state ON webhookDeliveries
      BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`.execute(world.side);
    world.start();
    await until(world, 'it was tried', () => world.logged.length > 0);
    await sql`DROP TRIGGER full_disk`.execute(world.side);
    await until(world, 'it has ended', async () => {
      await world.clock.advance(1_000);
      return (await only(world)).state === 'delivered';
    });
    assert.deepEqual([world.posts.length, (await only(world)).attempts], [1, 1]);
  }));

test('a crash between the post and its settlement posts the same event again when the lease ends', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    await world.record();
    const crashes: [point: string, posts: number][] = [];
    world.knobs.crashPoint = (name) => {
      crashes.push([name, world.posts.length]);
      if (crashes.length === 1) throw new Error('the process would be gone');
    };
    world.start();
    await until(world, 'it has crashed', () => crashes.length === 1);
    await world.clock.advance(MINUTE);
    await ended(world);
    assert.deepEqual(crashes, [
      ['webhook-after-post', 1],
      ['webhook-after-post', 2],
    ]);
    assert.equal(world.posts[0]?.body, world.posts[1]?.body);
    assert.equal((await only(world)).attempts, 2);
  }));

test('a delivery whose event retention has removed ends as failed, and keeps no other from being posted', () =>
  inWorld(async (world) => {
    const { id: endpointId } = await world.createEndpoint();
    const removed = await world.record();
    await world.record();
    const { db, runId } = world.test.app;
    await db.commit(fanOutEvents, { now: world.startMs, limit: 10 });
    await world.side.deleteFrom('events').where('id', '=', removed).execute();
    const lease = { now: world.startMs, until: world.startMs + MINUTE, runId };
    const leased = await db.commit(leaseDeliveries, { ...lease, claims: [{ endpointId, limit: 2 }] });
    assert.equal(leased.length, 1);
    const gone = (await world.deliveries()).find(({ eventId }) => eventId === removed);
    assert.deepEqual(
      [gone?.state, gone?.error, gone?.dueAt],
      ['failed', 'The event is no longer kept', null],
    );
  }));
