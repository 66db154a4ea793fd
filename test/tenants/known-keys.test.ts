import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import type { HttpServer } from '../../src/http/transport/server.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { createKnownKeys, type KnownKeys } from '../../src/tenants/known-keys.ts';
import { revokeApiKey } from '../../src/tenants/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2030, 0, 1));

let testApp: TestApp;
let known: KnownKeys;
before(async () => {
  testApp = await openTestApp({ system: { clock } });
  known = createKnownKeys(testApp.app);
});
after(() => testApp.close());

async function newKey() {
  const { tenantId } = testApp;
  const { key, token } = await createApiKey(testApp.app, {
    tenantId,
    name: 'k',
    mode: 'live',
    permission: 'full_access',
    expiresAt: null,
  });
  return { id: key.id, token, find: () => known.find(token, key.hint) };
}

test('a key that was seen is not read again for some seconds', async () => {
  const { id, find } = await newKey();
  assert.equal((await find())?.revokedAt, null);
  // Straight into the table, as nothing in the daemon does.
  await testApp.app.db.commit(revokeApiKey, { id, now: clock.now() });
  await clock.advance(9_999);
  assert.equal((await find())?.revokedAt, null);
  await clock.advance(1);
  assert.notEqual((await find())?.revokedAt, null);
});

test('a key that the operator revokes is revoked for the next request', async () => {
  const admin: HttpServer = await createControlServer(testApp.app);
  const { id, token } = await newKey();
  const ask = () => testApp.request('GET', '/v1/emails', { key: token });
  assert.equal((await ask()).status, 200);
  assert.equal((await admin.inject({ method: 'DELETE', url: `/keys/${id}` })).statusCode, 200);
  assert.equal((await ask()).status, 401);
  await admin.close();
});

test('an unknown key is not cached, so that it works as soon as it exists', async () => {
  const { token, find } = await newKey();
  assert.equal(await known.find(`${token}x`, token.slice(8, 16)), undefined);
  assert.ok(await find());
});

test('a server that has ended listens no more', async () => {
  const one = createKnownKeys(testApp.app);
  const { id, token } = await newKey();
  const hint = token.slice(8, 16);
  await one.find(token, hint);
  one.close();
  await testApp.app.db.commit(revokeApiKey, { id, now: clock.now() });
  testApp.app.wakeups.notify('tenants');
  assert.equal((await one.find(token, hint))?.revokedAt, null);
});
