import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifySignature } from '../../src/webhooks/posting/signature.ts';
import { createSecretSweep } from '../../src/webhooks/posts.ts';
import { ended, shareWorld, until, type WebhookWorld } from './webhook-world.ts';

const inWorld = shareWorld();

const HOUR = 3_600_000;
const iso = (epochMs: number) => new Date(epochMs).toISOString();
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
