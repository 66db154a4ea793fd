import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import type { HttpServer } from '../../src/http/transport/server.ts';
import { createApiKey, hashToken, readToken } from '../../src/tenants/keys.ts';
import { createKnownKeys } from '../../src/tenants/known-keys.ts';
import { listApiKeysByHint, revokeApiKey } from '../../src/tenants/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2030, 0, 1));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());

const config = { keys: { livePrefix: 'svc_prd_', testPrefix: 'svc_dev_' } };
const BODY = 'abcdefgh0123456789ABCDEFGHIJKLMNOPQRSTUV';

test('a key is its prefix and 40 characters of base62, all of them random', async () => {
  // As many as the statistics below need, and no tenant has more than its hundred.
  const tenants = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => (await testApp.addTenant(`many ${index}`)).tenantId),
  );
  const tokens = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => {
      const mode = index % 2 === 0 ? 'live' : 'test';
      const key = {
        tenantId: tenants[index % tenants.length] ?? testApp.tenantId,
        name: 'k',
        mode,
        permission: 'read_only',
        expiresAt: null,
      } as const;
      return (await createApiKey(testApp.app, key)).token;
    }),
  );
  for (const [index, token] of tokens.entries()) {
    assert.match(token, index % 2 === 0 ? /^svc_prd_[0-9A-Za-z]{40}$/ : /^svc_dev_[0-9A-Za-z]{40}$/);
  }
  for (let position = 8; position < 48; position++) {
    assert.ok(new Set(tokens.map((token) => token[position])).size > 40, `position ${position}`);
  }
});

test('at rest there is the hash of a key and nothing that it could be made from', async () => {
  const key = {
    tenantId: testApp.tenantId,
    name: 'k',
    mode: 'live',
    permission: 'read_only',
    expiresAt: null,
  } as const;
  const { key: row, token } = await createApiKey(testApp.app, key);
  const secret = token.slice(-32);
  assert.equal(row.tokenHash, hashToken(token));
  assert.match(row.tokenHash, /^[0-9a-f]{64}$/);
  assert.equal(row.hint, token.slice(8, 16));
  assert.ok(!JSON.stringify(row).includes(secret));
  const [stored] = await listApiKeysByHint(testApp.app.db.read, row.hint);
  assert.deepEqual(stored, { ...row, monthlyEmails: null, requestsPerSecond: null, tenantStatus: 'active' });
  // In another process: reading the file in this one would drop SQLite's locks on it.
  const isOnDisk = (text: string) => spawnSync('grep', ['-rqaF', text, testApp.dataDir]).status === 0;
  assert.equal(isOnDisk(row.tokenHash), true);
  assert.equal(isOnDisk(secret), false);
});

test('the prefixes are those of the configuration', async () => {
  const branded = await openTestApp({
    env: { POSTRIDER_KEYS_LIVE_PREFIX: 'acme_live_', POSTRIDER_KEYS_TEST_PREFIX: 'acme_test_' },
  });
  assert.match(branded.liveKey, /^acme_live_[0-9A-Za-z]{40}$/);
  assert.match(branded.testKey, /^acme_test_[0-9A-Za-z]{40}$/);
  assert.notEqual((await branded.request('GET', '/v1/emails', { key: branded.liveKey })).status, 401);
  await branded.close();
});

test('a token is read as its mode and the characters it is found by', () => {
  assert.deepEqual(readToken(config, `svc_prd_${BODY}`), { mode: 'live', hint: 'abcdefgh' });
  assert.deepEqual(readToken(config, `svc_dev_${BODY}`), { mode: 'test', hint: 'abcdefgh' });
});

test('text with another prefix or length is not a token', () => {
  for (const text of [
    '',
    BODY,
    `svc_${BODY}`,
    `svc_PRD_${BODY}`,
    ` svc_prd_${BODY}`,
    `svc_prd_${BODY}x`,
    `svc_prd_${BODY.slice(1)}`,
  ]) {
    assert.equal(readToken(config, text), undefined, text);
  }
});

const known = createKnownKeys(testApp.app);
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
