import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createPostStart, startPostsIfNeeded } from '../../../src/routes/post/start.ts';
import type { HttpRequest } from '../../../src/system/fetch.ts';
import { newId } from '../../../src/system/ids.ts';
import { verifySignature } from '../../../src/webhooks/posting/signature.ts';
import { type PostWorld, sharePostWorld } from './post-world.ts';

const inWorld = sharePostWorld();

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const TEXT = 'From: Ann <ann@sender.example>\r\nTo: sales@shop.example\r\nSubject: Hello\r\n\r\nHi\r\n';

const bodyOf = (post: HttpRequest | undefined) =>
  JSON.parse(Buffer.from(post?.body instanceof Uint8Array ? post.body : '').toString());
const ended = (world: PostWorld) => async () =>
  (await world.tasks()).every(({ endedAt }) => endedAt !== null);

test('a message is posted to its route, signed with the secret of the route', () =>
  inWorld(async (world) => {
    const { id: routeId, secret } = await world.addRoute({ destination: 'https://receiver.example/in?x=1' });
    const id = await world.deliver(TEXT, [{ id: routeId }]);
    world.start();
    await world.until('it has ended', ended(world));
    const [post, ...more] = world.posts;
    assert.ok(post?.body instanceof Uint8Array);
    assert.equal(more.length, 0);
    assert.deepEqual([post.method, post.url], ['POST', 'https://receiver.example/in?x=1']);
    const [task] = await world.tasks();
    const { 'X-Service-Signature': header = '', 'webhook-signature': standard, ...headers } = post.headers;
    const nowSeconds = Math.floor(world.clock.now() / 1_000);
    assert.deepEqual(headers, {
      'content-type': 'application/json',
      'user-agent': headers['user-agent'],
      'x-service-delivery': task?.id,
      'webhook-id': task?.id,
      'webhook-timestamp': String(nowSeconds),
    });
    assert.match(standard ?? '', /^v1,[A-Za-z0-9+/]{43}=$/);
    const body = Buffer.from(post.body).toString();
    assert.ok(verifySignature({ secret, header, body, nowSeconds }));
    assert.ok(!verifySignature({ secret: `${secret}x`, header, body, nowSeconds }));
    assert.deepEqual([post.timeoutMs, post.maxResponseBytes], [15_000, 4_096]);
    assert.deepEqual([bodyOf(post).id, bodyOf(post).subject, bodyOf(post).text], [id, 'Hello', 'Hi\n']);
    assert.deepEqual([task?.state, task?.attempts, task?.responseStatus], ['done', 1, 200]);
    assert.equal((await world.messages())[0]?.endedAt, world.clock.now());
  }));

test('a post whose answer cannot be stored yet is not made again', () =>
  inWorld(async (world) => {
    await world.deliver(TEXT, [await world.addRoute()]);
    await sql`CREATE TRIGGER full_disk BEFORE UPDATE OF state ON receivedTasks
      BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`.execute(world.side);
    world.start();
    await world.until('it was tried', () => world.logged.length > 0);
    await sql`DROP TRIGGER full_disk`.execute(world.side);
    await world.until('it has ended', async () => {
      await world.clock.advance(SECOND);
      return ended(world)();
    });
    assert.deepEqual([world.posts.length, (await world.tasks())[0]?.attempts], [1, 1]);
    assert.ok(world.logged.every(({ msg }) => msg === 'an outcome could not be stored yet'));
  }));

test('a failing post is made eight times on the schedule, each signed anew, then given up', () =>
  inWorld(async (world) => {
    await world.deliver(TEXT, [await world.addRoute()]);
    world.answer(() => ({ status: 500, body: Buffer.from('down') }));
    world.start();
    const dueAfter: (number | null)[] = [];
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const { dueAt } = await world.settled(attempt);
      dueAfter.push(dueAt === null ? null : (dueAt - world.clock.now()) / SECOND);
      if (dueAt !== null) await world.clock.advance(dueAt - world.clock.now());
    }
    assert.deepEqual(dueAfter, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, null]);
    const [task] = await world.tasks();
    assert.deepEqual(
      [task?.state, task?.responseStatus, task?.responseBody, task?.error],
      ['failed', 500, 'down', 'The receiver answered 500'],
    );
    assert.equal(new Set(world.posts.map(({ headers }) => headers['X-Service-Signature'])).size, 8);
    assert.equal(new Set(world.posts.map(({ headers }) => headers['x-service-delivery'])).size, 1);
  }));

test('a receiver that asks for a delay gets it, and one that cannot be reached is tried again', () =>
  inWorld(async (world) => {
    await world.deliver(TEXT, [await world.addRoute()]);
    world.answer(() => ({ status: 503, headers: { 'retry-after': '60' } }));
    world.start();
    const first = await world.settled(1);
    assert.equal((first.dueAt ?? 0) - world.clock.now(), MINUTE);
    world.answer(() => new Error('connection refused'));
    await world.clock.advance(MINUTE);
    const second = await world.settled(2);
    assert.deepEqual(
      [second.state, second.responseStatus, second.error],
      ['pending', null, 'connection refused'],
    );
  }));

test('a 410 disables the route at once, its other posts fail, and enabling it forgets that', () =>
  inWorld(async (world) => {
    const route = await world.addRoute();
    for (let count = 0; count < 6; count += 1) await world.deliver(TEXT, [route]);
    world.answer(() => ({ status: 410 }));
    world.start();
    await world.until('all have ended', ended(world));
    assert.ok(world.posts.length <= 4);
    const { enabled, disabledReason, disabledAt } = await world.route();
    assert.deepEqual([enabled, disabledReason, disabledAt], [0, 'gone', world.clock.now()]);
    const errors = new Set((await world.tasks()).map(({ error }) => error));
    assert.deepEqual(errors, new Set(['The receiver answered 410', 'The route is disabled']));
    const path = `/v1/inbound/routes/${route.id}`;
    const shown = await world.test.request('GET', path);
    assert.deepEqual([shown.body.enabled, shown.body.disabledReason], [false, 'gone']);
    const { body } = await world.test.request('PATCH', path, {
      key: world.test.liveKey,
      body: { enabled: true },
    });
    assert.deepEqual([body.enabled, body.disabledReason, body.disabledAt], [true, null, null]);
  }));

test('a failing route is suspended, twice as long each time, and a success ends that', () =>
  inWorld(async (world) => {
    await world.deliver(TEXT, [await world.addRoute()]);
    world.answer(() => ({ status: 500 }));
    world.start();
    const { dueAt } = await world.settled(1);
    const first = await world.route();
    assert.deepEqual(
      [first.failingSince, first.consecutiveFailures, first.suspendedUntil],
      [world.clock.now(), 1, world.clock.now() + 250],
    );
    await world.clock.advance((dueAt ?? 0) - world.clock.now());
    await world.settled(2);
    assert.equal((await world.route()).suspendedUntil, world.clock.now() + 500);
    world.answer(() => ({}));
    await world.clock.advance(5 * MINUTE);
    await world.until('it has ended', ended(world));
    const last = await world.route();
    assert.deepEqual([last.failingSince, last.consecutiveFailures, last.suspendedUntil], [null, 0, null]);
  }));

test('a route that has taken nothing for five days, with ten failing posts, is disabled', () =>
  inWorld(async (world) => {
    const route = await world.addRoute();
    await world.deliver(TEXT, [route]);
    const createdAt = world.clock.now() - 4 * 24 * HOUR;
    for (let count = 0; count < 10; count += 1) {
      const task = {
        messageId: (await world.messages())[0]!.id,
        tenantId: world.test.tenantId,
        kind: 'post' as const,
      };
      await world.side
        .insertInto('receivedTasks')
        .values({
          ...{ ...task, id: newId('tsk', createdAt), position: 0, targetId: route.id, queue: route.id },
          ...{ state: 'failed', attempts: 8, dueAt: null, runId: null, createdAt, endedAt: createdAt },
          ...{ responseStatus: null, responseTimeMs: null, responseBody: null, error: 'down' },
        })
        .execute();
    }
    await world.setRoute({
      failingSince: world.clock.now() - 5 * 24 * HOUR,
      warnedAt: 1,
      consecutiveFailures: 40,
    });
    world.answer(() => ({ status: 500 }));
    world.start();
    await world.until('it is disabled', async () => (await world.route()).enabled === 0);
    assert.equal((await world.route()).disabledReason, 'failures');
  }));

test('a destination that was changed during a post gets the message at once', () =>
  inWorld(async (world) => {
    await world.deliver(TEXT, [await world.addRoute()]);
    world.answer(async ({ url }) => {
      if (url === 'https://new.example/in') return {};
      await world.setRoute({ destination: 'https://new.example/in' });
      return { status: 410 };
    });
    world.start();
    await world.until('it has ended', ended(world));
    const [task] = await world.tasks();
    assert.deepEqual([task?.state, task?.attempts, (await world.route()).enabled], ['done', 2, 1]);
  }));

test('posts of a deleted or disabled route fail, and are kept for a replay', () =>
  inWorld(async (world) => {
    const route = await world.addRoute({ enabled: 0, disabledReason: 'manual' });
    await world.deliver(TEXT, [route, { id: 'rt_none' }]);
    world.start();
    await world.until('both have ended', ended(world));
    assert.deepEqual(
      (await world.tasks()).map(({ state, attempts, error }) => ({ state, attempts, error })),
      [
        { state: 'failed', attempts: 1, error: 'The route is disabled' },
        { state: 'failed', attempts: 1, error: 'The route was deleted' },
      ],
    );
    assert.equal(world.posts.length, 0);
  }));

test('with 100 routes, one of them dead, the others are posted to while it hangs', () =>
  inWorld(async (world) => {
    const dead = await world.addRoute({ destination: 'https://dead.example/in' });
    for (let count = 0; count < 20; count += 1) await world.deliver(TEXT, [dead]);
    const others = [];
    for (let count = 0; count < 99; count += 1) others.push(await world.addRoute());
    await world.deliver(TEXT, others);
    const hanging = Promise.withResolvers<{ status?: number }>();
    world.answer(({ url }) => (url === 'https://dead.example/in' ? hanging.promise : {}));
    const startedAt = world.clock.now();
    world.start();
    await world.until('all others have theirs', async () => {
      const done = (await world.tasks()).filter(({ state }) => state === 'done');
      return done.length === 99;
    });
    const toDead = () => world.posts.filter(({ url }) => url.includes('dead')).length;
    await world.until('the route that hangs has its share of the posts', async () => toDead() >= 4);
    // The clock has not moved: no post waited for the receiver that hangs.
    assert.equal(world.clock.now(), startedAt);
    assert.equal(toDead(), 4);
    hanging.resolve({});
    await world.until('all have ended', ended(world));
  }));

test('a message whose bytes are gone fails, without an effect on the route', () =>
  inWorld(async (world) => {
    const route = await world.addRoute();
    const id = await world.deliver(TEXT, [route]);
    await world.side.updateTable('receivedMessages').set({ blobId: null }).where('id', '=', id).execute();
    world.start();
    await world.until('it has ended', ended(world));
    const [task] = await world.tasks();
    assert.deepEqual([task?.state, task?.error], ['failed', 'The message is no longer kept']);
    assert.equal((await world.route()).failingSince, null);
  }));

test('posts that an earlier run left in flight are made again', () =>
  inWorld(async (world) => {
    await world.deliver(TEXT, [await world.addRoute()]);
    await world.side.updateTable('tasks').set({ runId: 'earlier', attempts: 1, dueAt: null }).execute();
    world.start();
    await world.until('it has ended', ended(world));
    assert.equal((await world.tasks())[0]?.attempts, 2);
    assert.match(world.logged[0]?.msg ?? '', /interrupted/);
  }));

test('a post that was interrupted at each attempt is given up, and the operator is told', () =>
  inWorld(async (world) => {
    await world.deliver(TEXT, [await world.addRoute()]);
    await world.side.updateTable('tasks').set({ runId: 'earlier', attempts: 8, dueAt: null }).execute();
    world.start();
    await world.until('it has ended', ended(world));
    const [task] = await world.tasks();
    assert.deepEqual([task?.state, task?.error], ['failed', 'The last attempt was interrupted']);
    assert.equal(world.posts.length, 0);
    const isTold = () => world.logged.some(({ msg }) => msg === 'a task is given up');
    await world.until('the operator is told', isTold);
  }));

/** A thread that counts how often it was started. */
function countStarts() {
  let starts = 0;
  return {
    starts: () => starts,
    start: async () => {
      starts += 1;
    },
  };
}

test('the thread of posts starts once there is a route, and once only', () =>
  inWorld(async ({ test: { app }, addRoute }) => {
    const thread = countStarts();
    const work = createPostStart(app, thread);
    await startPostsIfNeeded(app, thread);
    assert.deepEqual(await work.lease(1), { items: [], nextDueAt: undefined });
    assert.equal(thread.starts(), 0);
    await addRoute();
    await work.lease(1);
    await work.lease(1);
    assert.equal(thread.starts(), 1);
    await startPostsIfNeeded(app, thread);
    assert.equal(thread.starts(), 2);
  }));

test('the thread of posts starts for a post to a route that was deleted', () =>
  inWorld(async ({ test: { app }, addRoute, deliver, side }) => {
    const thread = countStarts();
    await deliver('Subject: a\r\n\r\nb\r\n', [await addRoute()]);
    await side.deleteFrom('inboundRoutes').execute();
    await createPostStart(app, thread).lease(1);
    assert.equal(thread.starts(), 1);
  }));

test('a thread of posts that cannot start fails the start of the daemon, and not the work that starts it later', () =>
  inWorld(async ({ test: { app }, addRoute }) => {
    await addRoute();
    const thread = { start: () => Promise.reject(new Error('no free file')) };
    await assert.rejects(startPostsIfNeeded(app, thread), /no free file/);
    assert.deepEqual((await createPostStart(app, thread).lease(1)).items, []);
  }));

test('routes to one host together have no more open posts than the setting allows, and a metric shows what waits', () =>
  inWorld(async (world) => {
    const shared = [];
    for (const path of ['a', 'b'])
      shared.push(await world.addRoute({ destination: `https://shared.example/${path}` }));
    const other = await world.addRoute();
    for (let count = 0; count < 5; count += 1) await world.deliver(TEXT, [...shared, other]);
    const hang = Promise.withResolvers<{ status?: number }>();
    world.answer(({ url }) => (url.includes('shared') ? hang.promise : {}));
    world.start({ maxOpenPerHost: 5 });
    const postsTo = (name: string) => world.posts.filter(({ url }) => url.includes(name)).length;
    await world.until('the other host has everything', () => postsTo('receiver') === 5);
    await world.until('all that may are open', () => postsTo('shared') >= 5);
    await world.clock.advance(7_000);
    assert.equal(postsTo('shared'), 5);
    const { text } = await world.test.app.metrics.show();
    assert.match(text, /^postrider_inbound_oldest_post_seconds 7$/m);
    hang.resolve({});
    await world.until('all have ended', ended(world));
    assert.equal(postsTo('shared'), 10);
  }));

test('whatever a post reads of its route is read again once it has changed', () =>
  inWorld(async ({ test: { app }, addRoute, setRoute }) => {
    const { id } = await addRoute();
    for (const change of [
      ...[{ destination: 'https://other.example/' }, { enabled: 0 as const }, { secretSealed: 'other' }],
      ...[{ failingSince: 1 }, { warnedAt: 1 }, { consecutiveFailures: 1 }, { suspendedUntil: 1 }],
    ]) {
      const before = app.db.changes.count('inboundRoutes', id);
      await setRoute(change);
      assert.notEqual(app.db.changes.count('inboundRoutes', id), before, Object.keys(change).join());
    }
  }));
