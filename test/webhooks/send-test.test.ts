import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_TYPES } from '../../src/events/store.ts';
import { verifySignature } from '../../src/webhooks/posting/signature.ts';
import { shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const send = (world: WebhookWorld, id: string, body?: unknown) =>
  world.test.request('POST', `/v1/webhooks/${id}/test`, { body });

test('a test posts one signed sample and returns the result', () =>
  inWorld(async (world) => {
    const { id, secret } = await world.createEndpoint({ events: ['email.sent'] });
    world.answer(async () => {
      await world.clock.advance(120);
      return { status: 202 };
    });
    const { status, body } = await send(world, id);
    assert.deepEqual(
      [status, body],
      [200, { delivered: true, responseStatus: 202, responseTimeMs: 120, error: null }],
    );
    const [post, ...more] = world.posts;
    assert.ok(post && more.length === 0);
    const event = JSON.parse(String(post.body));
    assert.deepEqual(
      [event.type, event.mode, event.test, event.createdAt],
      ['email.delivered', 'test', true, new Date(world.startMs).toISOString()],
    );
    assert.match(event.id, /^evt_/);
    const { 'webhook-id': eventId, 'x-service-event': type, 'X-Service-Signature': header } = post.headers;
    assert.deepEqual([eventId, type], [event.id, event.type]);
    const nowSeconds = world.startMs / 1_000;
    assert.ok(verifySignature({ secret, header: header ?? '', body: String(post.body), nowSeconds }));
  }));

test('a test may be of any type there is', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    for (const type of EVENT_TYPES) assert.equal((await send(world, id, { type })).body.delivered, true);
    const types = world.posts.map(({ body }) => JSON.parse(String(body)).type);
    assert.deepEqual(types, [...EVENT_TYPES]);
  }));

test('an unknown type is refused, and so is a body that is a list', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const answer = await send(world, id, { type: 'email.lost' });
    assert.deepEqual([answer.status, answer.body.error.param], [400, 'type']);
    for (const body of [[], 'email.sent', null, { type: null }, { Type: 'email.sent' }]) {
      assert.equal((await send(world, id, body)).status, 400, JSON.stringify(body));
    }
    assert.equal(world.posts.length, 0);
  }));

test('a test fails as a post does, is not retried, and is not recorded', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    await world.setEndpoint({ failingSince: 7 });
    const before = await world.side.selectFrom('webhookEndpoints').selectAll().execute();
    world.start();
    world.answer(() => ({ status: 410 }));
    assert.deepEqual((await send(world, id)).body, {
      ...{ delivered: false, responseStatus: 410, responseTimeMs: 0 },
      error: 'The receiver answered 410',
    });
    world.answer(() => new Error('connect ECONNREFUSED 192.0.2.1:443'));
    assert.deepEqual((await send(world, id)).body, {
      ...{ delivered: false, responseStatus: null, responseTimeMs: null },
      error: 'connect ECONNREFUSED 192.0.2.1:443',
    });
    world.answer(() => ({ status: 200 }));
    assert.equal((await send(world, id)).body.delivered, true);
    await world.clock.advance(60_000);
    assert.equal(world.posts.length, 3);
    assert.deepEqual(await world.deliveries(), []);
    assert.deepEqual(await world.side.selectFrom('webhookEndpoints').selectAll().execute(), before);
    assert.deepEqual(await world.side.selectFrom('events').selectAll().execute(), []);
  }));

test('a test without a body is one of the default type, whatever its content type', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const headers = { 'content-type': 'application/json' };
    assert.equal((await world.test.request('POST', `/v1/webhooks/${id}/test`, { headers })).status, 200);
    assert.equal((await send(world, id, {})).status, 200);
    assert.deepEqual(
      world.posts.map(({ body }) => JSON.parse(String(body)).type),
      ['email.delivered', 'email.delivered'],
    );
  }));

test('a disabled endpoint can be tested', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    await world.test.request('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    assert.equal((await send(world, id)).body.delivered, true);
  }));

test('an endpoint is tested once at a time, others beside it', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint({ url: 'https://slow.example/' });
    const { id: other } = await world.createEndpoint();
    const gate = Promise.withResolvers<{ status: number }>();
    world.answer(() => (world.posts.length === 1 ? gate.promise : {}));
    const first = send(world, id);
    await until(world, 'it is under way', () => world.posts.length === 1);
    const refused = await send(world, id);
    assert.deepEqual([refused.status, refused.body.error.type], [429, 'rate_limited']);
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal((await send(world, other)).status, 200);
    gate.resolve({ status: 200 });
    assert.equal((await first).body.delivered, true);
    assert.equal((await send(world, id)).status, 200);
  }));

test('a tenant that tests many endpoints at once leaves slots for other tenants', () =>
  inWorld(async (world) => {
    const other = await world.test.addTenant(`tests ${world.startMs}`);
    const { id: quick } = await world.createEndpoint({ key: other.testKey });
    const gate = Promise.withResolvers<{ status: number }>();
    world.answer(({ url }) => (url.includes('slow') ? gate.promise : {}));
    const tests = [];
    for (let index = 0; index < 16; index += 1) {
      const { id } = await world.createEndpoint({ url: `https://slow.example/${index}` });
      tests.push(send(world, id));
    }
    await until(world, 'they are under way', () => world.posts.length === 16);
    const { id } = await world.createEndpoint();
    assert.deepEqual((await send(world, id)).status, 429);
    const answer = await world.test.request('POST', `/v1/webhooks/${quick}/test`, { key: other.testKey });
    assert.equal(answer.body.delivered, true);
    gate.resolve({ status: 200 });
    for (const { status } of await Promise.all(tests)) assert.equal(status, 200);
    assert.equal((await send(world, id)).status, 200);
  }));
