import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { ApiKeyRow, Permission } from '../../src/db/tenant-tables.ts';
import { createHttpServer } from '../../src/http/json/server.ts';
import { callerOf, createKeyRequirement } from '../../src/tenants/authenticate.ts';
import type { Need } from '../../src/tenants/key-access.ts';
import { createApiKey, type NewKey, revokeKey } from '../../src/tenants/keys.ts';
import { listApiKeys, setTenantPlan } from '../../src/tenants/store.ts';
import { head, listen, open, post } from '../http/connection.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const START = Date.UTC(2030, 0, 1);
const clock = createFakeClock(START);
const NEEDS: readonly Need[] = ['send', 'emails', 'read', 'write', 'any'];

const PROXY = '10.0.0.1';

let testApp: TestApp;
/** One route for each need, and one that names none. */
let probe: FastifyInstance;
/** Is called when a request's head has been handled and its body is about to be read. */
let onBody = (): void => {};
let changes = 0;
before(async () => {
  testApp = await openTestApp({ system: { clock } });
  probe = await createHttpServer(
    testApp.app,
    { title: 'Probe', description: '', version: '0' },
    { trustedProxies: [PROXY] },
  );
  createKeyRequirement(testApp.app)(probe);
  for (const needs of NEEDS) {
    probe.get(`/${needs}`, { config: { needs } }, async (request) => callerOf(request));
  }
  probe.addHook('preParsing', async () => onBody());
  probe.post('/change', async (request) => {
    changes += 1;
    return request.body;
  });
  probe.route({ method: ['GET', 'POST'], url: '/unsaid', handler: async (request) => callerOf(request) });
});
after(async () => {
  await probe.close();
  await testApp.close();
});

async function ask(path: string, authorization?: string) {
  const headers = authorization === undefined ? {} : { authorization };
  const response = await probe.inject({ method: 'GET', url: path, headers });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

function newKey(changes: Partial<NewKey> = {}) {
  const key: NewKey = {
    tenantId: testApp.tenantId,
    name: 'a key',
    mode: 'live',
    permission: 'full_access',
    expiresAt: null,
    ...changes,
  };
  return createApiKey(testApp.app, key);
}

async function assertInvalid(authorization: string): Promise<void> {
  const { status, headers, body } = await ask('/read', authorization);
  assert.equal(status, 401, authorization);
  assert.equal(body.error.type, 'invalid_api_key', authorization);
  assert.equal(headers['www-authenticate'], 'Bearer');
}

test('a request without a key is told how to send one', async () => {
  for (const authorization of [undefined, '', '   ']) {
    const { status, headers, body } = await ask('/read', authorization);
    assert.equal(status, 401);
    assert.equal(body.error.type, 'missing_api_key');
    assert.match(body.error.message, /Authorization: Bearer/);
    assert.equal(headers['www-authenticate'], 'Bearer');
    assert.ok(headers['x-request-id']);
  }
});

test('a key says whose data it sees and in which mode', async () => {
  const { key, token } = await newKey({ mode: 'test' });
  const { status, body } = await ask('/read', `Bearer ${token}`);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    tenantId: testApp.tenantId,
    mode: 'test',
    keyId: key.id,
    personId: null,
    domainId: null,
    mailboxId: null,
    approval: null,
  });
});

test('a key that is limited to a domain says which', async () => {
  const created = await testApp.request('POST', '/v1/domains', { body: { name: 'one.example' } });
  const domainId = created.body.id;
  const { token } = await newKey({ domainId });
  assert.equal((await ask('/read', `Bearer ${token}`)).body.domainId, domainId);
});

test('a key that is used from a forbidden address is refused before anything is counted or recorded', async () => {
  const { tenantId } = await testApp.addTenant('elsewhere');
  await testApp.app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'free' });
  const { key, token } = await newKey({ tenantId, allowedIps: ['192.0.2.7'] });
  const from = (remoteAddress: string) =>
    probe.inject({ url: '/read', headers: { authorization: `Bearer ${token}` }, remoteAddress });
  // More than the plan's burst of ten.
  for (let count = 0; count < 20; count++) {
    const { statusCode, headers, json } = await from('192.0.2.8');
    assert.deepEqual([statusCode, json().error.type], [403, 'restricted_api_key']);
    assert.equal(headers['ratelimit-remaining'], undefined);
  }
  assert.equal(await lastUse(key.id), null);
  const allowed = await from('192.0.2.7');
  assert.deepEqual([allowed.statusCode, allowed.headers['ratelimit-remaining']], [200, '9']);
});

test('the word Bearer is the same in any case, and spaces around are nothing (RFC 9110 11.1)', async () => {
  for (const authorization of [`bearer ${testApp.liveKey}`, `BEARER   ${testApp.liveKey}  `]) {
    assert.equal((await ask('/read', authorization)).status, 200, authorization);
  }
});

test('text without the form of a key is refused', async () => {
  const token = testApp.liveKey;
  for (const authorization of [
    token,
    'Bearer',
    'Bearer svc_prd_',
    `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
    `Bearer ${token} ${token}`,
    `Bearer ${token.slice(0, -1)}`,
    `Bearer ${token}x`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer sk_live_${token.slice('svc_prd_'.length)}`,
    `Bearer ${token.slice('svc_prd_'.length)}`,
    `Bearer ${'x'.repeat(10_000)}`,
    `Bearer ${token}${' '.repeat(300)}`,
  ]) {
    await assertInvalid(authorization);
  }
});

test('a key that differs in one character, wherever, is not valid', async () => {
  const token = testApp.liveKey;
  for (const position of [8, 15, 16, 30, 47]) {
    const other = token[position] === 'a' ? 'b' : 'a';
    await assertInvalid(`Bearer ${token.slice(0, position)}${other}${token.slice(position + 1)}`);
  }
});

test('the prefix decides the mode: a live key cannot be used as a test key, nor the other way', async () => {
  await assertInvalid(`Bearer svc_dev_${testApp.liveKey.slice('svc_prd_'.length)}`);
  await assertInvalid(`Bearer svc_prd_${testApp.testKey.slice('svc_dev_'.length)}`);
});

test('a revoked key is not valid from the moment it was revoked', async () => {
  const { key, token } = await newKey();
  assert.equal((await ask('/read', `Bearer ${token}`)).status, 200);
  await revokeKey(testApp.app, key.id);
  await assertInvalid(`Bearer ${token}`);
});

test('a key is valid until it expires, and not at that moment', async () => {
  const { token } = await newKey({ expiresAt: clock.now() + 10_000 });
  await clock.advance(9_999);
  assert.equal((await ask('/read', `Bearer ${token}`)).status, 200);
  await clock.advance(1);
  await assertInvalid(`Bearer ${token}`);
});

const PERMITTED: Record<Permission, readonly Need[]> = {
  full_access: ['send', 'emails', 'read', 'write', 'any'],
  sending_access: ['send', 'emails', 'any'],
  read_only: ['emails', 'read', 'any'],
};

for (const [permission, permitted] of Object.entries(PERMITTED) as [Permission, readonly Need[]][]) {
  test(`a key with ${permission} may ${permitted.join(', ')} and nothing else`, async () => {
    const { token } = await newKey({ permission });
    for (const needs of NEEDS) {
      const { status, body } = await ask(`/${needs}`, `Bearer ${token}`);
      assert.equal(status, permitted.includes(needs) ? 200 : 403, needs);
      if (status === 403) assert.equal(body.error.type, 'restricted_api_key');
    }
    for (const [method, needs] of [
      ['GET', 'read'],
      ['POST', 'write'],
    ] as const) {
      const headers = { authorization: `Bearer ${token}` };
      const unsaid = await probe.inject({ method, url: '/unsaid', headers });
      assert.equal(unsaid.statusCode, permitted.includes(needs) ? 200 : 403, `${method}: ${needs}`);
    }
  });
}

test('a key that may not is told so only when it is a key: an unknown one is 401 everywhere', async () => {
  const { key, token } = await newKey({ permission: 'read_only' });
  await revokeKey(testApp.app, key.id);
  assert.equal((await ask('/write', `Bearer ${token}`)).status, 401);
});

async function lastUse(id: string): Promise<number | null | undefined> {
  // A note is not awaited: one more write, which queues behind it, is.
  await newKey();
  return (await listApiKeys(testApp.app.db.read)).find((row) => row.id === id)?.lastUsedAt;
}

test('the last use of a key is noted at once, and then once a minute', async () => {
  const { key, token } = await newKey();
  assert.equal(await lastUse(key.id), null);
  const first = clock.now();
  await ask('/read', `Bearer ${token}`);
  assert.equal(await lastUse(key.id), first);
  await clock.advance(59_999);
  await ask('/read', `Bearer ${token}`);
  assert.equal(await lastUse(key.id), first);
  await clock.advance(1);
  await ask('/read', `Bearer ${token}`);
  assert.equal(await lastUse(key.id), first + 60_000);
});

test('a request that was refused is no use of a key', async () => {
  const { key, token } = await newKey({ permission: 'read_only' });
  await ask('/write', `Bearer ${token}`);
  assert.equal(await lastUse(key.id), null);
});

test('every route of the API asks for a key before anything else', async () => {
  const { paths } = (await testApp.openServer()).openApi();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods ?? {}).map((method) => ({ path, method: method.toUpperCase() })),
  );
  assert.ok(routes.length >= 10, `${routes.length} routes`);
  for (const { path, method } of routes) {
    assert.match(path, /^\/v1\//);
    const url = path.replace(/\{\w+\}/g, 'x');
    const { status, body } = await testApp.request(method as 'GET', url, { key: null });
    assert.deepEqual(
      { route: `${method} ${path}`, status, type: body.error?.type },
      { route: `${method} ${path}`, status: 401, type: 'missing_api_key' },
    );
  }
});

test('a key in the query string or in another header is no key', async () => {
  const query = await ask(`/read?api_key=${testApp.liveKey}&authorization=Bearer%20${testApp.liveKey}`);
  assert.equal(query.status, 401);
  const response = await probe.inject({
    method: 'GET',
    url: '/read',
    headers: { 'x-api-key': testApp.liveKey },
  });
  assert.equal(response.statusCode, 401);
});

test('a key is checked against the forwarded address behind a trusted proxy only', async () => {
  const { token } = await newKey({ allowedIps: ['192.0.2.7'] });
  const from = async (remoteAddress: string, forwardedFor: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': forwardedFor };
    return (await probe.inject({ url: '/read', headers, remoteAddress })).statusCode;
  };
  assert.equal(await from(PROXY, '192.0.2.7'), 200);
  assert.equal(await from(PROXY, '192.0.2.7, 192.0.2.8'), 403, 'the client itself wrote the first address');
  assert.equal(await from(PROXY, 'unknown'), 403);
  assert.equal(await from('10.0.0.2', '192.0.2.7'), 403);
  assert.equal(await from('192.0.2.8', '192.0.2.7'), 403);
});

for (const [how, ends] of [
  ['revoked', (key: ApiKeyRow) => revokeKey(testApp.app, key.id)],
  ['expired', () => clock.advance(1_000)],
] as const) {
  test(`a key that is ${how} while the body arrives changes nothing`, async () => {
    const { key, token } = await newKey({ expiresAt: clock.now() + 1_000 });
    const client = await open(await listening());
    const authorization = `Authorization: Bearer ${token}\r\n`;
    client.write(post('/change', '{}', authorization));
    assert.equal((await client.answer()).status, 200);
    const begun = new Promise<void>((resolve) => {
      onBody = resolve;
    });
    const before = changes;
    client.write(head('/change', 2, authorization));
    await begun;
    await ends(key);
    client.write('{}');
    const { status, body } = await client.answer();
    assert.deepEqual([status, JSON.parse(body).error.type], [401, 'invalid_api_key']);
    assert.equal(changes, before);
    client.socket.destroy();
  });
}

let port: Promise<number> | undefined;
function listening(): Promise<number> {
  port ??= listen(probe);
  return port;
}
