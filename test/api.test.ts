import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createControlServer } from '../src/control-socket.ts';
import { MAX_ATTACHMENTS_BODY_BYTES } from '../src/http/json/server.ts';
import type { Fetch } from '../src/system/fetch.ts';
import { setTenantPlan } from '../src/tenants/store.ts';
import { emailBody } from './emails/fixtures.ts';
import { head, listen, open } from './http/connection.ts';
import { createFakeClock } from './support/fake-clock.ts';
import { openTestApp, type TestApp } from './support/test-app.ts';
import { waitUntil } from './support/wait-until.ts';

const MIB = 1024 * 1024;

/** Bytes that the bodies and fetched files of all requests have reserved. */
async function bytesHeld({ app }: TestApp): Promise<number> {
  const { text } = await app.metrics.show();
  return Number(/^postrider_http_body_bytes_in_flight (\d+)$/m.exec(text)?.[1]);
}

test('metrics are on the HTTP listener when asked for, and on the control socket always', async () => {
  for (const [env, status] of [
    [{}, 404],
    [{ POSTRIDER_HTTP_METRICS: 'true' }, 200],
  ] as const) {
    await using world = await openTestApp({ env });
    const { status: answered, body } = await world.request('GET', '/metrics', { key: null });
    assert.equal(answered, status);
    assert.equal(String(body).includes('postrider_'), status === 200);
    const control = await createControlServer(world.app);
    assert.equal((await control.inject('/metrics')).statusCode, 200);
    await control.close();
  }
});

test('a request without a valid key counts towards its address, and one with a valid key does not', async () => {
  await using world = await openTestApp({ system: { clock: createFakeClock(Date.UTC(2030, 0, 1)) } });
  const limited = (await world.request('POST', '/v1/api-keys', {
    body: { name: 'a', permission: 'read_only', allowedIps: ['192.0.2.9'] },
  })) as { body: { token: string } };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const unknown = [
    ...[
      '/healthz',
      '/docs',
      '/docs/swagger-ui.css',
      '/v1/openapi.json',
      '/',
      '/none',
      '/metrics',
      '/v1/emails',
    ].map((url) => ({ url, headers: {} })),
    { url: '/v1/emails', headers: bearer(`svc_dev_${'x'.repeat(40)}`) },
    { url: '/v1/none', headers: bearer('nonsense') },
    { url: '/v1/topics', headers: bearer(limited.body.token) },
  ];
  const remoteAddress = '198.51.100.1';
  const ask = async (request: { url: string; headers: Record<string, string> }) =>
    (await world.inject({ ...request, remoteAddress })).statusCode;
  // Each request is sent once, and then /healthz until the burst is used up.
  for (const request of unknown) assert.notEqual(await ask(request), 429, request.url);
  for (let count = unknown.length; count < 500; count++)
    assert.equal(await ask({ url: '/healthz', headers: {} }), 200, `the ${count}th`);
  for (const request of unknown) assert.equal(await ask(request), 429, request.url);
  assert.equal(await ask({ url: '/v1/topics', headers: bearer(world.testKey) }), 200);
});

test('large bodies of one tenant, announced and never sent, leave memory for those of another', async (context) => {
  const world = await openTestApp();
  context.after(() => world.close());
  const other = await world.addTenant('other');
  const port = await listen(await world.openServer());
  const announce = async (key: string) => {
    const peer = await open(port);
    peer.write(head('/v1/emails', MAX_ATTACHMENTS_BODY_BYTES, `Authorization: Bearer ${key}\r\n`));
    return peer;
  };
  const peers = await Promise.all([world.testKey, world.liveKey, world.testKey, world.liveKey].map(announce));
  await waitUntil(async () => (await bytesHeld(world)) === 4 * MAX_ATTACHMENTS_BODY_BYTES);
  for (const key of [world.testKey, world.liveKey]) {
    const peer = await announce(key);
    assert.equal((await peer.answer()).status, 503, 'whichever of its keys');
    peers.push(peer);
  }
  // A small body, but two million characters once it is filled in.
  const body = emailBody({ html: '{{x}}'.repeat(200), text: 'x', variables: { x: 'x'.repeat(10_000) } });
  assert.equal((await world.request('POST', '/v1/emails', { body })).status, 503);
  assert.equal((await world.request('POST', '/v1/emails', { body, key: other.testKey })).status, 200);
  // What came is paid for, and small.
  const ordinary = emailBody({ html: `<p>{{x}}</p>${'x'.repeat(200_000)}`, variables: { x: 'x' } });
  assert.equal((await world.request('POST', '/v1/emails', { body: ordinary })).status, 200);
  peers.push(await announce(other.testKey));
  await waitUntil(async () => (await bytesHeld(world)) === 5 * MAX_ATTACHMENTS_BODY_BYTES);
  for (const { socket } of peers) socket.destroy();
  await waitUntil(async () => (await bytesHeld(world)) === 0);
});

test('content that variables make of a small body is reserved until it is stored', async (context) => {
  const world = await openTestApp();
  context.after(() => world.close());
  let heldBytes = 0;
  const { db } = world.app;
  const { commit } = db;
  db.commit = async (write, input) => {
    heldBytes = Math.max(heldBytes, await bytesHeld(world));
    return commit(write, input);
  };
  const filled = { text: undefined, html: '{{x}}'.repeat(200), variables: { x: 'x'.repeat(10_000) } };
  for (const [path, body] of [
    ['/v1/emails', emailBody(filled)],
    ['/v1/emails/batch', { emails: [emailBody(filled)] }],
  ] as const) {
    heldBytes = 0;
    assert.equal((await world.request('POST', path, { body })).status, 200);
    assert.ok(heldBytes >= 2 * 1_990_000, `${path} ${heldBytes}`);
    await waitUntil(async () => (await bytesHeld(world)) === 0);
  }
});

test('fetched files count to the budget of bodies until the email is stored or refused', async (context) => {
  let heldBytes = 0;
  const fetch: Fetch = async ({ reserveBytes }) => {
    reserveBytes?.(25 * MIB);
    heldBytes = await bytesHeld(world);
    return { status: 200, headers: {}, body: Buffer.from('data'), truncated: false };
  };
  const world = await openTestApp({ system: { fetch } });
  context.after(() => world.close());
  const attachments = [{ filename: 'a', path: 'https://files.example/a' }];
  const send = () => world.request('POST', '/v1/emails', { body: emailBody({ attachments }) });
  assert.equal((await send()).status, 200);
  assert.ok(heldBytes >= 25 * MIB && heldBytes < 26 * MIB, `${heldBytes}`);
  await waitUntil(async () => (await bytesHeld(world)) === 0);
  world.app.blobs.prepare = () => Promise.reject(new Error('no disk'));
  heldBytes = 0;
  assert.equal((await send()).status, 500);
  assert.ok(heldBytes >= 25 * MIB);
  await waitUntil(async () => (await bytesHeld(world)) === 0);
});

test('a limited tenant is told what it has left by refusals too, whatever refuses', async (context) => {
  const world = await openTestApp({ system: { clock: createFakeClock(Date.UTC(2030, 0, 1)) } });
  context.after(() => world.close());
  const { tenantId } = world;
  await world.app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'free' });
  const text = { headers: { 'content-type': 'text/plain' }, body: 'x' };
  for (const [index, [method, path, options, status]] of (
    [
      ['GET', '/v1/emails/em_x', {}, 404],
      ['GET', '/v1/emails?limit=0', {}, 400],
      ['GET', '/v1/emails?starting_after=x', {}, 400],
      ['POST', '/v1/topics', { body: {} }, 400],
      ['POST', '/v1/topics', text, 415],
    ] as const
  ).entries()) {
    const answer = await world.request(method, path, options);
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers['ratelimit-remaining'], String(9 - index), path);
  }
});

test('the reference page is served to everybody', async (context) => {
  const world = await openTestApp();
  context.after(() => world.close());
  const { status, headers } = await world.request('GET', '/docs', { key: null });
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/html/);
});
