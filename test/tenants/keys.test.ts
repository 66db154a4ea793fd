import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { createApiKey, hashToken, readToken } from '../../src/tenants/keys.ts';
import { listApiKeysByHint } from '../../src/tenants/store.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

let testApp: TestApp;
before(async () => {
  testApp = await openTestApp();
});
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
  assert.deepEqual(stored, { ...row, monthlyEmails: null, requestsPerSecond: null });
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
