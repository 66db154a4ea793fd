/** Leases: what becomes of a delivery whose post was interrupted, or answered too late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Id } from '../../src/system/ids.ts';
import { leaseTasks, releaseTasks } from '../../src/tasks/store.ts';
import { fanOutEvents } from '../../src/webhooks/fan-out.ts';
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
  const claims = [{ queueKey: endpointId, limit: 1 }];
  for (let attempt = 1; attempt <= times; attempt += 1) {
    const lease = { kind: 'webhooks', now: world.startMs, runId, claims };
    const [leased] = await db.commit(leaseTasks, lease);
    assert.equal(leased?.attempts, attempt);
    const released = attempt < times && leased ? [{ lease: leased, dueAt: world.startMs }] : [];
    await db.commit(releaseTasks, { releases: released });
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
      [['tasks were interrupted, and are run again', 1]],
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

test('a settlement of another lease changes nothing', () =>
  inWorld(async (world) => {
    const endpointId = await leaseUnsettled(world, 'an earlier start');
    const { db } = world.test.app;
    const before = await only(world);
    const lease = { kind: 'webhooks', reference: before.id, attempts: 1, runId: 'another start' };
    const [settled] = await db.commit(settleDelivery, [
      {
        ...{ lease, endpointId, now: world.startMs, url: 'https://receiver.example/hook', answer: 'gone' },
        next: { state: 'failed', dueAt: null },
        result: { responseStatus: 410, responseTimeMs: 1, responseBody: '', error: '' },
      },
    ]);
    assert.equal(settled?.effect, 'stale');
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

test('a crash between the post and its settlement posts the same event again', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    await world.record();
    const crashes: [point: string, posts: number][] = [];
    world.knobs.crashPoint = (name) => {
      if (name !== 'post-made') return;
      crashes.push([name, world.posts.length]);
      if (crashes.length === 1) throw new Error('the process would be gone');
    };
    world.start();
    await until(world, 'it has crashed', () => crashes.length === 1);
    await until(world, 'it is due again', async () => (await only(world)).dueAt !== null);
    await world.clock.advance(MINUTE);
    await ended(world);
    assert.deepEqual(crashes, [
      ['post-made', 1],
      ['post-made', 2],
    ]);
    assert.equal(world.posts[0]?.body, world.posts[1]?.body);
    assert.equal((await only(world)).attempts, 2);
  }));

test('a delivery whose event retention has removed ends as failed, and keeps no other from being posted', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    const removed = await world.record();
    await world.record();
    await world.test.app.db.commit(fanOutEvents, { now: world.startMs, limit: 10 });
    await world.side.deleteFrom('events').where('id', '=', removed).execute();
    world.start();
    await ended(world);
    assert.equal(world.posts.length, 1);
    const gone = (await world.deliveries()).find(({ eventId }) => eventId === removed);
    assert.deepEqual(
      [gone?.state, gone?.error, gone?.dueAt],
      ['failed', 'The event is no longer kept', null],
    );
  }));
