import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const iso = (epochMs: number) => new Date(epochMs).toISOString();
const patch = (world: WebhookWorld, id: string, body: unknown) =>
  world.test.request('PATCH', `/v1/webhooks/${id}`, { body });

test('a change sets the named fields and leaves the others', () =>
  inWorld(async (world) => {
    const { id, secret } = await world.createEndpoint();
    const created = (await world.test.request('GET', `/v1/webhooks/${id}`)).body;
    const changes: [body: object, change: object][] = [
      [{}, {}],
      [{ url: created.url, events: created.events, description: null, status: 'enabled' }, {}],
      [{ url: 'https://other.example/' }, { url: 'https://other.example/' }],
      [{ events: ['email.sent', 'email.sent', 'email.opened'] }, { events: ['email.sent', 'email.opened'] }],
      [{ description: 'Shop' }, { description: 'Shop' }],
      [{ nothing: 1 }, {}],
      [{ description: null }, { description: null }],
    ];
    let expected = created;
    for (const [seconds, [body, change]] of changes.entries()) {
      await world.clock.advance(1_000);
      const updatedAt = iso(world.startMs + (seconds + 1) * 1_000);
      expected = { ...expected, ...change, ...(Object.keys(change).length > 0 && { updatedAt }) };
      const answer = await patch(world, id, body);
      assert.deepEqual([answer.status, answer.body], [200, expected], JSON.stringify(body));
      assert.deepEqual((await world.test.request('GET', `/v1/webhooks/${id}`)).body, expected);
    }
    await world.record({ type: 'email.opened' });
    world.start();
    await until(world, 'it is posted to the new URL', () => world.posts.length === 1);
    assert.equal(world.posts[0]?.url, 'https://other.example/');
    assert.ok(secret.startsWith('whsec_'));
  }));

test('disabling skips what waits, and enabling posts what comes after', () =>
  inWorld(async (world) => {
    world.answer(() => ({ status: 500 }));
    const { id } = await world.begin();
    const lastStatus = async () => (await world.deliveries())[0]?.responseStatus;
    await until(world, 'it has failed once', async () => (await lastStatus()) === 500);
    const disabled = await patch(world, id, { status: 'disabled' });
    const { status, disabledReason, disabledAt } = disabled.body;
    assert.deepEqual([status, disabledReason, disabledAt], ['disabled', 'manual', iso(world.startMs)]);
    assert.deepEqual(
      (await world.deliveries()).map(({ state, attempts, dueAt, error }) => [state, attempts, dueAt, error]),
      [['skipped', 1, null, 'The endpoint is disabled']],
    );
    await world.record();
    await until(world, 'the next is skipped', async () => (await world.deliveries()).length === 2);
    const enabled = await patch(world, id, { status: 'enabled' });
    assert.deepEqual(
      [enabled.body.status, enabled.body.disabledReason, enabled.body.disabledAt, enabled.body.failingSince],
      ['enabled', null, null, null],
    );
    await world.record();
    await until(world, 'what came after is posted', () => world.posts.length === 2);
    const states = (await world.deliveries()).map(({ state }) => state).sort();
    assert.deepEqual(states.slice(-2), ['skipped', 'skipped']);
  }));

test('disabling what is disabled keeps when and why', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    await patch(world, id, { status: 'disabled' });
    await world.setEndpoint({ disabledReason: 'failures' });
    await world.clock.advance(5_000);
    const { body } = await patch(world, id, { status: 'disabled' });
    assert.deepEqual([body.disabledReason, body.disabledAt], ['failures', iso(world.startMs)]);
  }));

for (const [name, body, failingSince] of [
  ['enabling an enabled endpoint', { status: 'enabled' }, null],
  ['another URL', { url: 'https://other.example/' }, null],
  ['the same URL', { url: 'https://receiver.example/hook' }, 7],
  ['other events', { events: ['email.sent'] }, 7],
] as const) {
  test(`${name} ${failingSince === null ? 'forgets' : 'does not forget'} the failures so far`, () =>
    inWorld(async (world) => {
      const { id } = await world.createEndpoint();
      await world.setEndpoint({
        failingSince: 7,
        warnedAt: 8,
        consecutiveFailures: 9,
        suspendedUntil: world.startMs + 1,
      });
      const answer = await patch(world, id, body);
      assert.equal(answer.body.failingSince, failingSince === null ? null : iso(failingSince));
      const row = await world.endpoint();
      assert.deepEqual(
        [row.warnedAt, row.consecutiveFailures, answer.body.suspendedUntil],
        failingSince === null ? [null, 0, null] : [8, 9, iso(world.startMs + 1)],
      );
    }));
}

for (const [body, param] of [
  [{ url: 'http:' }, 'url'],
  [{ url: 'https://example.com:25/' }, 'url'],
  [{ url: null }, 'url'],
  [{ events: [] }, 'events'],
  [{ events: ['email.lost'] }, 'events[0]'],
  [{ description: 'a\nb' }, 'description'],
  [{ status: 'paused' }, 'status'],
  [{ status: null }, 'status'],
  [{ secret: 'whsec_mine' }, 'secret'],
] as const) {
  test(`refused with 400, and nothing changes: ${JSON.stringify(body)}`, () =>
    inWorld(async (world) => {
      const { id } = await world.createEndpoint();
      const before = await world.side.selectFrom('webhookEndpoints').selectAll().execute();
      const answer = await patch(world, id, { description: 'x', ...body });
      assert.deepEqual([answer.status, answer.body.error.param], [400, param]);
      assert.deepEqual(await world.side.selectFrom('webhookEndpoints').selectAll().execute(), before);
    }));
}

test('the response of the previous receiver does not count for the receiver that replaced it', () =>
  inWorld(async (world) => {
    const late = Promise.withResolvers<{ status: number }>();
    world.answer(({ url }) => (url === 'https://new.example/' ? { status: 200 } : late.promise));
    const { id } = await world.begin();
    await until(world, 'it is being posted', () => world.posts.length === 1);
    assert.equal((await patch(world, id, { url: 'https://new.example/' })).status, 200);
    late.resolve({ status: 410 });
    await until(world, 'it is posted to the new one', () => world.posts.length === 2);
    assert.equal(world.posts[1]?.url, 'https://new.example/');
    await until(world, 'it is delivered', async () => (await world.deliveries())[0]?.state === 'delivered');
    const { status, disabledReason, failingSince } = (await world.test.request('GET', `/v1/webhooks/${id}`))
      .body;
    assert.deepEqual([status, disabledReason, failingSince], ['enabled', null, null]);
  }));
