import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import { createHttpServer } from '../../src/http/json/server.ts';
import { newId } from '../../src/system/ids.ts';
import { createKeyRequirement } from '../../src/tenants/authenticate.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { createRateLimit } from '../../src/tenants/rate-limit.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { idleGuards } from '../support/idle-guards.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2030, 0, 1));

const testApp = await openTestApp({ system: { clock } });
const admin = await createControlServer(testApp.app);
const probe = await createHttpServer(testApp.app, { title: 'Probe', description: '', version: '0' });
createKeyRequirement(testApp.app)(probe);
probe.get('/read', { config: { needs: 'read' } }, async () => ({}));
probe.post('/write', { config: { needs: 'write' } }, async () => ({}));
after(async () => {
  await admin.close();
  await probe.close();
  await testApp.close();
});

async function newTenant(plan: string, permission: 'full_access' | 'read_only' = 'full_access') {
  const now = clock.now();
  const tenantId = newId('ten', now);
  await testApp.app.db.commit(insertTenant, { id: tenantId, name: tenantId, plan, createdAt: now });
  const keyFor = async () =>
    (await createApiKey(testApp.app, { tenantId, name: 'k', mode: 'live', permission, expiresAt: null }))
      .token;
  return { tenantId, token: await keyFor(), otherToken: await keyFor() };
}

async function ask(token: string, method: 'GET' | 'POST' = 'GET', url = '/read') {
  const { statusCode, headers, body } = await probe.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: statusCode, headers, error: JSON.parse(body).error };
}

const A = newId('ten', 1);
const B = newId('ten', 1);

test('a bucket holds two seconds of requests and fills as time goes by', async () => {
  const time = createFakeClock(0);
  const limit = createRateLimit(idleGuards(time).tenants);
  const many = (count: number) => Array.from({ length: count }, () => limit.take(A, 5).allowed);
  assert.deepEqual(many(11), [...Array(10).fill(true), false]);
  await time.advance(199);
  assert.equal(limit.take(A, 5).allowed, false);
  await time.advance(1);
  assert.deepEqual(many(2), [true, false]);
  await time.advance(3_600_000);
  assert.deepEqual(many(11), [...Array(10).fill(true), false]);
});

test('over any time no more than the rate and one burst pass', async () => {
  const time = createFakeClock(0);
  const limit = createRateLimit(idleGuards(time).tenants);
  let passed = 0;
  for (let step = 0; step < 1_000; step++) {
    if (limit.take(A, 3).allowed) passed++;
    await time.advance(20);
  }
  assert.ok(passed >= 60 && passed <= 66, `${passed}`);
});

test('each tenant has a rate limit of its own, and a changed plan applies to the tokens it holds', () => {
  const limit = createRateLimit(idleGuards(createFakeClock(0)).tenants);
  assert.equal(limit.take(A, 1_000).remaining, 1_999);
  assert.equal(limit.take(A, 5).remaining, 9);
  assert.equal(limit.take(B, 5).remaining, 9);
});

test('a limited tenant is told on every answer what it has left', async () => {
  const { token, otherToken } = await newTenant('free', 'read_only');
  const first = await ask(token);
  assert.equal(first.status, 200);
  const fieldsOf = (headers: Record<string, unknown>) =>
    ['limit', 'policy', 'remaining', 'reset'].map((name) => String(headers[`ratelimit-${name}`]));
  assert.deepEqual(fieldsOf(first.headers), ['5', '5;w=1;burst=10', '9', '1']);
  const refused = await ask(otherToken, 'POST', '/write');
  assert.equal(refused.status, 403);
  assert.deepEqual(fieldsOf(refused.headers), ['5', '5;w=1;burst=10', '8', '1']);
  for (let index = 0; index < 7; index++) await ask(token);
  const last = await ask(token);
  assert.deepEqual([last.status, ...fieldsOf(last.headers)], [200, '5', '5;w=1;burst=10', '0', '2']);
  const over = await ask(token);
  assert.deepEqual([over.status, ...fieldsOf(over.headers)], [429, '5', '5;w=1;burst=10', '0', '2']);
  assert.deepEqual([over.error.type, over.headers['retry-after']], ['rate_limited', '1']);
  assert.equal((await ask(otherToken)).status, 429, 'the limit is that of the tenant, not of the key');
  await clock.advance(1_000);
  for (let index = 0; index < 5; index++) assert.equal((await ask(token)).status, 200);
  assert.equal((await ask(token)).status, 429);
});

test('asking for what there is nothing of counts, and is answered to whoever asks', async () => {
  const { token } = await newTenant('free');
  const nothing = async (authorization: string, method: 'PUT' | 'GET', url: string) => {
    const { statusCode, headers } = await testApp.inject({ method, url, headers: { authorization } });
    return [statusCode, headers['ratelimit-remaining'], headers.allow];
  };
  assert.deepEqual(await nothing(`Bearer ${token}`, 'PUT', '/v1/emails'), [405, '9', 'GET, HEAD, POST']);
  assert.deepEqual(await nothing(`Bearer ${token}`, 'GET', '/v1/nothing'), [404, '8', undefined]);
  for (const none of ['', 'Bearer nothing', `Bearer ${token}x`]) {
    assert.deepEqual(await nothing(none, 'PUT', '/v1/emails'), [405, undefined, 'GET, HEAD, POST']);
    assert.deepEqual(await nothing(none, 'GET', '/v1/nothing'), [404, undefined, undefined]);
  }
  for (let left = 8; left > 0; left--) await nothing(`Bearer ${token}`, 'GET', '/v1/nothing');
  assert.deepEqual(await nothing(`Bearer ${token}`, 'PUT', '/v1/emails'), [429, '0', undefined]);
});

test('a tenant without a limit is not counted', async () => {
  const { token } = await newTenant('unlimited');
  for (let index = 0; index < 50; index++) {
    const { status, headers } = await ask(token);
    assert.equal(status, 200);
    assert.equal(headers['ratelimit-limit'], undefined);
  }
});

test('a plan that the operator changes applies at once', async () => {
  const put = (requestsPerSecond: number | null) =>
    admin.inject({
      method: 'PUT',
      url: '/plans',
      payload: { name: 'team', monthlyEmails: null, requestsPerSecond, storedMegabytes: null },
    });
  await put(1);
  const { token } = await newTenant('team');
  for (let index = 0; index < 2; index++) assert.equal((await ask(token)).status, 200);
  assert.equal((await ask(token)).status, 429);
  await put(null);
  assert.equal((await ask(token)).status, 200);
  await put(7);
  assert.equal((await ask(token)).headers['ratelimit-limit'], '7');
});
