import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { HttpRequest } from '../../src/system/fetch.ts';
import { newId } from '../../src/system/ids.ts';
import { wakeTasks } from '../../src/tasks/engine.ts';
import { releaseTasks } from '../../src/tasks/store.ts';
import { suspensionMs } from '../../src/webhooks/posting/schedule.ts';
import { verifySignature } from '../../src/webhooks/posting/signature.ts';
import { createWebhookKind } from '../../src/webhooks/posts.ts';
import { findReceiver } from '../../src/webhooks/settle.ts';
import { waitUntil } from '../support/wait-until.ts';
import { DATA, ended, only, shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const manifest = new URL('../../package.json', import.meta.url);
const VERSION: string = JSON.parse(readFileSync(manifest, 'utf8')).version;

const settledWith = (world: WebhookWorld, error: string | RegExp, dueAt: number) =>
  until(world, `it is due again at ${dueAt}`, async () => {
    const [row] = await world.deliveries();
    const fits = typeof error === 'string' ? row?.error === error : error.test(row?.error ?? '');
    return fits && row?.state === 'pending' && row.dueAt === dueAt;
  });
async function recordMany(world: WebhookWorld, count: number, key?: { tenantId: `ten_${string}` }) {
  for (let index = 0; index < count; index += 1) await world.record(key);
}
const timestampOf = (post: HttpRequest) => Number(/t=(\d+)/.exec(signatureOf(post))?.[1]);
const signatureOf = (post: HttpRequest) => post.headers['X-Service-Signature'] ?? '';

test('a post carries the event as it was recorded, signed with the secret that was shown', () =>
  inWorld(async (world) => {
    const { secret } = await world.createEndpoint({ url: 'https://receiver.example/hook?x=1' });
    const id = await world.record({ data: { ...DATA, subject: 'Grüße "1"', smtp: { code: 250 } } });
    world.start();
    await ended(world);
    const [post] = world.posts;
    assert.ok(post);
    const body =
      `{"id":"${id}","type":"email.delivered","createdAt":"${new Date(world.startMs).toISOString()}","mode":"test",` +
      '"data":{"emailId":"em_1","to":"ann@example.org","from":"shop@example.com",' +
      '"subject":"Grüße \\"1\\"","smtp":{"code":250}}}';
    assert.equal(post.body, body);
    assert.deepEqual([post.method, post.url], ['POST', 'https://receiver.example/hook?x=1']);
    const { id: delivery } = await only(world);
    const { 'X-Service-Signature': header, 'webhook-signature': standard, ...headers } = post.headers;
    assert.deepEqual(headers, {
      'content-type': 'application/json',
      'user-agent': `Postrider/${VERSION}`,
      'x-service-event': 'email.delivered',
      'x-service-delivery': delivery,
      'webhook-id': id,
      'webhook-timestamp': String(world.startMs / 1_000),
    });
    assert.match(standard ?? '', /^v1,[A-Za-z0-9+/]{43}=$/);
    assert.ok(verifySignature({ secret, header: header ?? '', body, nowSeconds: world.startMs / 1_000 }));
    assert.deepEqual([post.timeoutMs, post.maxResponseBytes], [15_000, 4_096]);
    assert.deepEqual((await only(world)).responseStatus, 200);
  }));

test('the name of the signature header is the configured one', () =>
  inWorld(
    async (world) => {
      await world.begin();
      await ended(world);
      assert.match(world.posts[0]?.headers['X-Shop-Signature'] ?? '', /^t=\d+,v1=[0-9a-f]{64}$/);
    },
    { env: { POSTRIDER_WEBHOOKS_SIGNATURE_HEADER: 'X-Shop-Signature' } },
  ));

test('any 2xx is success and ends the delivery after one post', () =>
  inWorld(async (world) => {
    world.answer(() => ({ status: 299 }));
    await world.begin();
    await ended(world);
    await world.clock.advance(24 * HOUR);
    const { state, attempts, responseStatus, error } = await only(world);
    assert.deepEqual([state, attempts, responseStatus, error], ['delivered', 1, 299, null]);
    assert.equal(world.posts.length, 1);
  }));

test('a failing post is made eight times on the schedule, each signed anew over the same bytes, then given up', () =>
  inWorld(async (world) => {
    world.answer(() => ({ status: 500 }));
    const { secret } = await world.begin();
    const delays = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
    let due = world.startMs;
    for (const [index, delay] of delays.entries()) {
      await until(world, `attempt ${index + 1}`, () => world.posts.length === index + 1);
      due += delay;
      await settledWith(world, 'The receiver answered 500', due);
      await world.clock.advance(delay - 1);
      assert.equal(world.posts.length, index + 1, 'not before it is due');
      await world.clock.advance(1);
    }
    await ended(world);
    const { state, attempts, responseStatus, error } = await only(world);
    assert.deepEqual(
      [state, attempts, responseStatus, error],
      ['failed', 8, 500, 'The receiver answered 500'],
    );
    assert.equal(world.posts.length, 8);
    assert.equal(new Set(world.posts.map((post) => post.body)).size, 1);
    assert.equal(new Set(world.posts.map((post) => post.headers['x-service-delivery'])).size, 1);
    let at = world.startMs;
    for (const [index, post] of world.posts.entries()) {
      const nowSeconds = Math.floor(at / 1_000);
      assert.equal(timestampOf(post), nowSeconds);
      assert.ok(verifySignature({ secret, header: signatureOf(post), body: String(post.body), nowSeconds }));
      at += delays[index] ?? 0;
    }
    await world.clock.advance(24 * HOUR);
    assert.equal(world.posts.length, 8);
  }));

for (const [share, factor] of [
  [0, 0.9],
  [0.75, 1.05],
] as const) {
  test(`waiting times are jittered by up to 10 % (random ${share})`, () =>
    inWorld(async (world) => {
      world.knobs.random = share;
      world.answer(() => ({ status: 503 }));
      await world.begin();
      await settledWith(world, /503/, world.startMs + 5_000 * factor);
    }));
}

for (const status of [301, 302, 307, 400, 401, 404, 429, 500, 503]) {
  test(`a ${status} is not success: it is posted again`, () =>
    inWorld(async (world) => {
      world.answer(() => ({ status, headers: { location: 'https://elsewhere.example/' } }));
      await world.begin();
      await settledWith(world, `The receiver answered ${status}`, world.startMs + 5_000);
      world.answer(() => ({ status: 200 }));
      await world.clock.advance(5_000);
      await ended(world);
      assert.deepEqual(
        world.posts.map((post) => post.url),
        ['https://receiver.example/hook', 'https://receiver.example/hook'],
      );
    }));
}

test('a post without any answer is retried, and the delivery shows the reason', () =>
  inWorld(async (world) => {
    world.answer(() => new Error('connect ECONNREFUSED 192.0.2.1:443'));
    await world.begin();
    await settledWith(world, 'connect ECONNREFUSED 192.0.2.1:443', world.startMs + 5_000);
    assert.equal((await only(world)).responseStatus, null);
  }));

/** A number stands for a date that many milliseconds from now. */
const RETRY_AFTER: [header: string | string[] | number, waitMs: number][] = [
  ['120', 2 * MINUTE],
  ['3', 5 * SECOND],
  ['999999', 10 * HOUR],
  [`${'9'.repeat(400)}`, 10 * HOUR],
  [10 * MINUTE, 10 * MINUTE],
  [-HOUR, 5 * SECOND],
  ['-5', 5 * SECOND],
  ['soon', 5 * SECOND],
  [['60', '90'], MINUTE],
];
for (const [header, waitMs] of RETRY_AFTER) {
  test(`Retry-After ${String(header).slice(0, 40)} makes it wait ${waitMs / 1_000} s`, () =>
    inWorld(async (world) => {
      await world.createEndpoint();
      const value = typeof header === 'number' ? new Date(world.startMs + header).toUTCString() : header;
      world.answer(() => ({ status: 429, headers: { 'retry-after': value } }));
      await world.record();
      world.start();
      await settledWith(world, /429/, world.startMs + waitMs);
    }));
}

test('410 disables the endpoint and ends everything still due to it, and nothing of another endpoint', () =>
  inWorld(async (world) => {
    const gone = await world.createEndpoint({ url: 'https://gone.example/' });
    world.answer(() => ({ status: 500 }));
    const other = await world.begin({ url: 'https://other.example/' });
    await until(world, 'both wait to be tried again', async () => {
      const rows = await world.deliveries();
      return rows.length === 2 && rows.every((row) => row.dueAt === world.startMs + 5_000);
    });
    world.answer(({ url }) => ({ status: url.includes('gone') ? 410 : 500 }));
    await world.clock.advance(SECOND);
    await world.record();
    await until(world, 'the endpoint is disabled', async () => {
      const { body } = await world.test.request('GET', `/v1/webhooks/${gone.id}`);
      return body.status === 'disabled' && body.disabledReason === 'gone';
    });
    const states = async (id: string) =>
      (await world.deliveries()).filter((row) => row.endpointId === id).map((row) => [row.state, row.error]);
    assert.deepEqual((await states(gone.id)).map(([state]) => state).sort(), ['failed', 'skipped']);
    assert.deepEqual((await states(gone.id)).map(([, error]) => error).sort(), [
      'The endpoint is disabled',
      'The receiver answered 410',
    ]);
    assert.deepEqual(
      (await states(other.id)).map(([state]) => state),
      ['pending', 'pending'],
    );
    const { body } = await world.test.request('GET', `/v1/webhooks/${other.id}`);
    assert.equal(body.status, 'enabled');
  }));

test('a deleted endpoint is posted to no more, and an answer that comes too late changes nothing', () =>
  inWorld(async (world) => {
    const late = Promise.withResolvers<{ status: number }>();
    world.answer(() => late.promise);
    const { id } = await world.begin();
    await until(world, 'the post is under way', () => world.posts.length === 1);
    assert.equal((await world.test.request('DELETE', `/v1/webhooks/${id}`)).status, 204);
    late.resolve({ status: 500 });
    await ended(world);
    await world.clock.advance(24 * HOUR);
    const { state, error, attempts } = await only(world);
    assert.deepEqual([state, error, attempts], ['failed', 'The endpoint was deleted', 1]);
    assert.equal(world.posts.length, 1);
  }));

test('a delivery to an endpoint that was disabled meanwhile ends when it falls due', () =>
  inWorld(async (world) => {
    world.answer(() => ({ status: 500 }));
    await world.begin();
    await settledWith(world, /500/, world.startMs + 5_000);
    await world.setEndpoint({ status: 'disabled' });
    await world.clock.advance(5_000);
    await ended(world);
    assert.deepEqual([world.posts.length, (await only(world)).error], [1, 'The endpoint is disabled']);
  }));

test('a receiver that hangs holds four posts and no other endpoint', () =>
  inWorld(async (world) => {
    await world.createEndpoint({ url: 'https://slow.example/' });
    await world.createEndpoint({ url: 'https://quick.example/' });
    const hang = Promise.withResolvers<{ status: number }>();
    world.answer(({ url }) => (url.includes('slow') ? hang.promise : {}));
    await recordMany(world, 10);
    world.start();
    const postsTo = (name: string) => world.posts.filter((post) => post.url.includes(name)).length;
    await until(world, 'the quick one has everything', () => postsTo('quick') === 10);
    await world.clock.advance(15 * SECOND);
    assert.equal(postsTo('slow'), 4);
    hang.resolve({ status: 200 });
    await ended(world);
    assert.deepEqual([postsTo('slow'), postsTo('quick')], [10, 10]);
  }));

test('while all slots are taken, the worker sleeps and does not query the database in a loop', (context) =>
  inWorld(async (world) => {
    await world.createEndpoint();
    const hang = Promise.withResolvers<{ status: number }>();
    world.answer(() => hang.promise);
    await recordMany(world, 8);
    let timers = 0;
    const after = world.clock.after;
    context.after(() => {
      world.clock.after = after;
    });
    world.clock.after = (delayMs, run) => {
      timers += 1;
      return after(delayMs, run);
    };
    world.start();
    await until(world, 'four are under way', () => world.posts.length === 4);
    timers = 0;
    await world.clock.advance(10 * SECOND);
    assert.ok(timers < 5, `${timers} timers in ten quiet seconds`);
    hang.resolve({ status: 200 });
    await ended(world);
  }));

test('a post under way when its endpoint is disabled settles as what it came to', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const answers = [500, 200].map((status) => ({ status, gate: Promise.withResolvers<void>() }));
    world.answer(async () => {
      const answer = answers[world.posts.length - 1];
      await answer?.gate.promise;
      return { status: answer?.status ?? 0 };
    });
    await world.record();
    await world.record();
    world.start();
    await until(world, 'both are under way', () => world.posts.length === 2);
    await world.test.request('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    assert.deepEqual(
      (await world.deliveries()).map((row) => row.state),
      ['pending', 'pending'],
    );
    for (const { gate } of answers) gate.resolve();
    await ended(world);
    assert.deepEqual((await world.deliveries()).map((row) => [row.state, row.responseStatus]).sort(), [
      ['delivered', 200],
      ['skipped', 500],
    ]);
  }));

test('an endpoint whose last post failed gets one post at a time until one succeeds', () =>
  inWorld(async (world) => {
    world.answer(() => ({ status: 500 }));
    await world.begin();
    await settledWith(world, /500/, world.startMs + 5_000);
    const gate = Promise.withResolvers<{ status: number }>();
    const others = Promise.withResolvers<{ status: number }>();
    world.answer(() => (world.posts.length === 2 ? gate.promise : others.promise));
    await world.clock.advance(SECOND);
    await recordMany(world, 8);
    await until(world, 'one is under way', () => world.posts.length === 2);
    await world.clock.advance(5 * SECOND);
    assert.equal(world.posts.length, 2);
    gate.resolve({ status: 200 });
    await until(world, 'several are under way', () => world.posts.length >= 4);
    await world.clock.advance(5 * SECOND);
    others.resolve({ status: 200 });
    await ended(world);
  }));

/** Advances the clock in small steps. In each step it waits for the writes of the posts, which complete in order. */
async function advanceUntil(world: WebhookWorld, check: () => boolean): Promise<void> {
  await waitUntil(async () => {
    if (check()) return true;
    await world.test.app.db.commit(releaseTasks, { releases: [] });
    await world.clock.advance(50);
    return false;
  });
}

test('an endpoint that refuses at once is suspended for longer and longer, however much is due to it', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const times: number[] = [];
    world.answer(() => {
      times.push(world.clock.now());
      return { status: 500 };
    });
    await recordMany(world, 40);
    world.start();
    const shown = async () => (await world.test.request('GET', `/v1/webhooks/${id}`)).body.suspendedUntil;
    await until(world, 'the first posts have failed', async () => (await shown()) !== null);
    assert.equal(await shown(), new Date(world.startMs + 250).toISOString());
    const together = times.length;
    assert.ok(together <= 4, 'those that are made at the same time');
    await advanceUntil(world, () => times.length >= together + 5);
    const gaps = times.slice(together).map((at, index) => at - (times[together + index - 1] ?? 0));
    for (const [index, leastMs] of [250, 500, 1_000, 2_000, 4_000].entries()) {
      assert.ok((gaps[index] ?? 0) >= leastMs, `${gaps}`);
    }
    world.answer(() => ({ status: 200 }));
    const posts = world.posts.length;
    await advanceUntil(world, () => world.posts.length > posts);
    await until(world, 'one success ends the suspension, and all that is due follows', async () => {
      const rows = await world.deliveries();
      return rows.filter(({ state }) => state === 'delivered').length >= 30;
    });
    assert.equal(await shown(), null);
  }));

test('a suspension is a minute at most', () => {
  assert.deepEqual(
    [1, 2, 8, 9, 500, 5_000].map((failures) => suspensionMs(failures)),
    [250, 500, 32_000, MINUTE, MINUTE, MINUTE],
  );
});

test('a start of the daemon ends all suspensions, also those of a clock that has been set back', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    await world.setEndpoint({
      failingSince: 1,
      consecutiveFailures: 9,
      suspendedUntil: world.startMs + 24 * HOUR,
    });
    await world.record();
    world.start();
    await ended(world);
    assert.equal((await only(world)).state, 'delivered');
  }));

test('a suspension that a clock set back has made longer than a minute counts no more', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    world.start();
    await world.record();
    await ended(world);
    const suspendedUntil = world.startMs + 24 * HOUR;
    await world.setEndpoint({ failingSince: 1, consecutiveFailures: 1, suspendedUntil });
    await world.record();
    wakeTasks(world.test.app, 'webhooks', [id]);
    await until(world, 'the second is posted', async () => world.posts.length === 2);
  }));

test('endpoints whose last post failed have one slot each, and together never the last quarter of all', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { concurrency, rules } = createWebhookKind(world.test.app);
    const limitsOf = async () => new Map((await rules?.(id))?.limits?.map(({ key, max }) => [key, max]));
    assert.equal((await limitsOf()).has('failing'), false);
    await world.setEndpoint({ failingSince: 1 });
    const limits = await limitsOf();
    assert.deepEqual([limits.get(id), limits.get('failing')], [1, (3 / 4) * concurrency]);
  }));

test('whatever a post reads of its endpoint is read again once it has changed', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { db } = world.test.app;
    const {
      id: _,
      tenantId,
      domainId,
      format,
      isEnabled,
      ...columns
    } = (await findReceiver(db.read, id)) ?? {};
    for (const [name, value] of Object.entries(columns)) {
      const before = db.changes.count('webhookEndpoints', id);
      await world.setEndpoint({ [name]: typeof value === 'string' ? 'disabled' : 1 });
      assert.notEqual(db.changes.count('webhookEndpoints', id), before, name);
    }
  }));

test('posts of one tenant that hang leave slots for those of another', () =>
  inWorld(async (world) => {
    const other = await world.test.addTenant(`other ${world.startMs}`);
    for (let index = 0; index < 50; index += 1) {
      await world.createEndpoint({ url: `https://slow.example/${index}` });
    }
    await world.createEndpoint({ url: 'https://quick.example/', key: other.testKey });
    const hang = Promise.withResolvers<{ status: number }>();
    world.answer(({ url }) => (url.includes('slow') ? hang.promise : {}));
    await recordMany(world, 6);
    world.start();
    await until(world, 'the first has its share', () => world.posts.length === 128);
    await recordMany(world, 20, other);
    const quick = () => world.posts.filter(({ url }) => url.includes('quick')).length;
    await until(world, 'the other has everything', () => quick() === 20);
    assert.equal(world.posts.length, 148, 'and the first no more than its share');
    hang.resolve({ status: 200 });
    await ended(world);
  }));

test('endpoints of one host, of all tenants, together have no more open posts than the setting allows', () =>
  inWorld(
    async (world) => {
      const other = await world.test.addTenant(`other ${world.startMs}`);
      await world.createEndpoint({ url: 'https://shared.example/1' });
      await world.createEndpoint({ url: 'https://shared.example/2' });
      await world.createEndpoint({ url: 'https://shared.example/3', key: other.testKey });
      await world.createEndpoint({ url: 'https://quick.example/' });
      const hang = Promise.withResolvers<{ status: number }>();
      world.answer(({ url }) => (url.includes('shared') ? hang.promise : {}));
      await recordMany(world, 10);
      await recordMany(world, 10, other);
      world.start();
      const postsTo = (name: string) => world.posts.filter(({ url }) => url.includes(name)).length;
      await until(world, 'the other host has everything', () => postsTo('quick') === 10);
      await until(world, 'all that may are open', () => postsTo('shared') >= 6);
      await world.clock.advance(SECOND);
      assert.equal(postsTo('shared'), 6);
      hang.resolve({ status: 200 });
      await ended(world);
      assert.equal(postsTo('shared'), 30);
    },
    { env: { POSTRIDER_WEBHOOKS_MAX_OPEN_PER_HOST: '6' } },
  ));

test('posts to endpoints that fail never take the last quarter of the slots, however many tenants have them', () =>
  inWorld(async (world) => {
    const { secret } = await world.createEndpoint({ url: 'https://quick.example/' });
    const healthy = await world.endpoint();
    for (let tenant = 0; tenant < 5; tenant += 1) {
      const { tenantId } = await world.test.addTenant(`failing ${tenant} ${world.startMs}`);
      for (let index = 0; index < 50; index += 1) {
        const failing = newId('wh', world.startMs);
        const secretSealed = world.test.app.sealer.seal(secret, [tenantId, failing]);
        const url = `https://dead${tenant}-${index}.example/`;
        const row = { ...healthy, id: failing, tenantId, url, secretSealed, failingSince: 1 };
        await world.side.insertInto('webhookEndpoints').values(row).execute();
      }
      await world.record({ tenantId });
    }
    const hang = Promise.withResolvers<{ status: number }>();
    world.answer(({ url }) => (url.includes('dead') ? hang.promise : {}));
    world.start();
    const postsTo = (name: string) => world.posts.filter(({ url }) => url.includes(name)).length;
    await until(world, 'the failing ones have their share', async () => {
      await world.clock.advance(1);
      return postsTo('dead') >= 192;
    });
    await recordMany(world, 20);
    await until(world, 'the healthy one has everything', async () => {
      await world.clock.advance(1);
      return postsTo('quick') === 20;
    });
    assert.equal(postsTo('dead'), 192);
    hang.resolve({ status: 200 });
    await until(world, 'all have ended', async () => {
      await world.clock.advance(1);
      return (await world.deliveries()).every(({ state }) => state === 'delivered');
    });
  }));

test('a metric shows the age of the oldest event that waits', () =>
  inWorld(async (world) => {
    await world.createEndpoint();
    const hang = Promise.withResolvers<{ status: number }>();
    world.answer(() => hang.promise);
    await world.record();
    world.start();
    const shown = async () =>
      /^postrider_webhook_oldest_event_seconds (\S+)$/m.exec((await world.test.app.metrics.show()).text)?.[1];
    await until(world, 'it is posted', () => world.posts.length === 1);
    await world.clock.advance(7 * SECOND);
    assert.equal(await shown(), '7');
    hang.resolve({ status: 200 });
    await ended(world);
    assert.equal(await shown(), '0');
  }));
