import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifySignature } from '../../src/webhooks/posting/signature.ts';
import { createSecretSweep } from '../../src/webhooks/posts.ts';
import { ended, shareWorld, until, type WebhookWorld } from './webhook-world.ts';

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

const HOUR = 3_600_000;
const rotate = (world: WebhookWorld, id: string, body?: unknown) =>
  world.test.request('POST', `/v1/webhooks/${id}/rotate-secret`, { body });

/** Which of the secrets a post made now is signed with, in both headers, and how many signatures it has. */
async function signers(world: WebhookWorld, id: string, secrets: readonly string[]) {
  world.posts.length = 0;
  await world.test.request('POST', `/v1/webhooks/${id}/test`, { body: {} });
  const [post] = world.posts;
  assert.ok(post);
  const body = String(post.body);
  const header = post.headers['X-Service-Signature'] ?? '';
  const standard = (post.headers['webhook-signature'] ?? '').split(' ');
  const signed = `${post.headers['webhook-id']}.${post.headers['webhook-timestamp']}.${body}`;
  const standardOf = (secret: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(signed)
      .digest('base64')}`;
  const nowSeconds = Math.floor(world.clock.now() / 1_000);
  const found = secrets.filter((secret) => verifySignature({ secret, header, body, nowSeconds }));
  assert.deepEqual(
    found,
    secrets.filter((secret) => standard.includes(standardOf(secret))),
  );
  assert.equal(standard.length, found.length);
  assert.equal(header.split(',').length, found.length + 1);
  return found;
}

test('without overlap the new secret signs alone, from the next post on', () =>
  inWorld(async (world) => {
    const { secret: old, ...created } = await world.createEndpoint();
    await world.clock.advance(1_000);
    const { status, body } = await rotate(world, created.id);
    const { secret, ...shown } = body;
    assert.equal(status, 200);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(shown, { ...created, updatedAt: iso(world.startMs + 1_000) });
    assert.notEqual(secret, old);
    assert.deepEqual(await signers(world, created.id, [old, secret]), [secret]);
    const got = await world.test.request('GET', `/v1/webhooks/${created.id}`);
    assert.deepEqual(got.body, shown);
    assert.equal((await world.endpoint()).previousSecretSealed, null);
  }));

test('while the overlap lasts both sign, and to the millisecond no longer', () =>
  inWorld(async (world) => {
    const { id, secret: old } = await world.createEndpoint();
    const { secret, previousSecretExpiresAt } = (await rotate(world, id, { overlapSeconds: 3_600 })).body;
    assert.equal(previousSecretExpiresAt, iso(world.startMs + HOUR));
    assert.deepEqual(await signers(world, id, [old, secret]), [old, secret]);
    await world.record();
    world.start();
    await until(world, 'an event is posted', () => world.posts.length === 2);
    assert.match(world.posts[1]?.headers['X-Service-Signature'] ?? '', /^t=\d+,v1=\w+,v1=\w+$/);
    await ended(world);
    await world.clock.advance(HOUR - 1);
    assert.deepEqual(await signers(world, id, [old, secret]), [old, secret]);
    const path = `/v1/webhooks/${id}`;
    assert.equal(
      (await world.test.request('GET', path)).body.previousSecretExpiresAt,
      iso(world.startMs + HOUR),
    );
    await world.clock.advance(1);
    assert.deepEqual(await signers(world, id, [old, secret]), [secret]);
    assert.equal((await world.test.request('GET', path)).body.previousSecretExpiresAt, null);
  }));

test('a second rotation within the overlap ends the part of the first secret, and one without overlap that of all but the newest', () =>
  inWorld(async (world) => {
    const { id, secret: first } = await world.createEndpoint();
    const second = (await rotate(world, id, { overlapSeconds: 60 })).body.secret;
    const third = (await rotate(world, id, { overlapSeconds: 60 })).body.secret;
    assert.deepEqual(await signers(world, id, [first, second, third]), [second, third]);
    const fourth = (await rotate(world, id, { overlapSeconds: 0 })).body.secret;
    assert.deepEqual(await signers(world, id, [first, second, third, fourth]), [fourth]);
  }));

test('both secrets of an endpoint are kept sealed, and the previous one is removed when its overlap ends', () =>
  inWorld(async (world) => {
    const { id, secret: old } = await world.createEndpoint();
    const { secret } = (await rotate(world, id, { overlapSeconds: 60 })).body;
    const { app, tenantId } = world.test;
    const { secretSealed, previousSecretSealed } = await world.endpoint();
    assert.equal(app.sealer.open(secretSealed, [tenantId, id]), secret);
    assert.equal(app.sealer.open(previousSecretSealed ?? '', [tenantId, id]), old);
    const sweep = async () => {
      const work = createSecretSweep(app);
      const [item] = (await work.lease(1)).items;
      assert.ok(item);
      await work.run(item);
    };
    await world.clock.advance(59_999);
    await sweep();
    assert.equal((await world.endpoint()).previousSecretSealed, previousSecretSealed);
    await world.clock.advance(1);
    await sweep();
    const { previousSecretSealed: left, previousSecretUntil, secretSealed: kept } = await world.endpoint();
    assert.deepEqual([left, previousSecretUntil, kept], [null, null, secretSealed]);
  }));

for (const overlapSeconds of [-1, 604_801, 0.5, '60', null, true]) {
  test(`refused with 400, and nothing changes: an overlap of ${JSON.stringify(overlapSeconds)} s`, () =>
    inWorld(async (world) => {
      const { id } = await world.createEndpoint();
      const before = await world.endpoint();
      const { status, body } = await rotate(world, id, { overlapSeconds });
      assert.deepEqual(
        [status, body.error.type, body.error.param],
        [400, 'validation_error', 'overlapSeconds'],
      );
      assert.deepEqual(await world.endpoint(), before);
    }));
}

test('a body that is no object is refused, and one that is empty is as good as none', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const before = await world.endpoint();
    for (const body of [null, [], 'now', 60]) assert.equal((await rotate(world, id, body)).status, 400);
    assert.deepEqual(await world.endpoint(), before);
    assert.equal((await rotate(world, id, {})).status, 200);
  }));

test('the longest overlap is a week', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    const { body } = await rotate(world, id, { overlapSeconds: 604_800 });
    assert.equal(body.previousSecretExpiresAt, iso(world.startMs + 7 * 24 * HOUR));
  }));
