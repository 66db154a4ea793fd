import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Mode } from '../../src/db/tables.ts';
import { newId } from '../../src/system/ids.ts';
import { createApiKey, type NewKey } from '../../src/tenants/keys.ts';
import { getKeyInUse, insertApiKey, insertTenant } from '../../src/tenants/store.ts';
import { explain } from '../support/explain.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestMethod } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const PATH = '/v1/api-keys';
const BODY = { name: 'shop', permission: 'sending_access' };
const create = (body: unknown, key = world.testKey) => world.request('POST', PATH, { key, body });
const ask = (method: TestMethod, id: string, key = world.testKey, body?: unknown) =>
  world.request(method, `${PATH}/${id}`, { key, ...(body !== undefined && { body }) });

/** A key made as the operator makes it. */
const keyWith = (fields: Partial<NewKey>) =>
  createApiKey(world.app, {
    ...{ tenantId: world.tenantId, name: 'k', mode: 'test', permission: 'full_access', expiresAt: null },
    ...fields,
  });

const newDomain = async (name: string, key = world.testKey): Promise<string> =>
  (await world.request('POST', '/v1/domains', { key, body: { name } })).body.id;

/** The status of a request with this key, from this address. */
async function statusFrom(token: string, remoteAddress: string, path = '/v1/topics') {
  const headers = { authorization: `Bearer ${token}` };
  const response = await world.inject({ method: 'GET', url: path, headers, remoteAddress });
  return [response.statusCode, response.json().error?.type];
}

test('a key is created with its whole record and its token, which is shown then and never again', async () => {
  const created = await create(BODY);
  assert.equal(created.status, 201);
  const { token, ...record } = created.body;
  assert.match(token, /^svc_dev_[0-9A-Za-z]{40}$/);
  assert.match(record.id, /^key_[0-9a-z]{26}$/);
  assert.deepEqual(record, {
    ...BODY,
    id: record.id,
    mode: 'test',
    hint: token.slice(8, 16),
    domainId: null,
    allowedIps: null,
    createdAt: new Date(NOW).toISOString(),
    lastUsedAt: null,
    expiresAt: null,
    requiresApproval: null,
    mailboxId: null,
  });
  const got = await ask('GET', record.id);
  assert.deepEqual([got.status, got.body], [200, record]);
  const listed = await world.request('GET', PATH);
  assert.deepEqual(
    listed.body.data.find(({ id }: { id: string }) => id === record.id),
    record,
  );
  assert.ok(!JSON.stringify(listed.body).includes(token.slice(16)));
  assert.equal((await world.request('GET', '/v1/topics', { key: token })).status, 403);
  assert.equal((await world.request('GET', '/v1/emails', { key: token })).status, 200);
});

test('a key has the limits it is given, or none', async () => {
  const domainId = await newDomain('limits.example');
  const limits = {
    domainId,
    allowedIps: ['10.1.2.3/8', '::FFFF:192.0.2.7', '2001:DB8::1'],
    expiresAt: '2030-01-01T08:00:00+08:00',
  };
  const { status, body } = await create({ ...BODY, ...limits });
  assert.equal(status, 201);
  assert.deepEqual(
    [body.domainId, body.allowedIps, body.expiresAt],
    [domainId, ['10.0.0.0/8', '192.0.2.7', '2001:db8::1'], '2030-01-01T00:00:00.000Z'],
  );
  const none = await create({ ...BODY, domainId: null, allowedIps: null, expiresAt: null, mode: 'test' });
  assert.deepEqual(
    [none.status, none.body.domainId, none.body.allowedIps, none.body.expiresAt],
    [201, null, null, null],
  );
});

const BAD: [name: string, changes: object, param: string][] = [
  ['no name', { name: undefined }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 201 characters', { name: 'ä'.repeat(201) }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['a name with a lone surrogate', { name: 'a\ud800' }, 'name'],
  ['no permission', { permission: undefined }, 'permission'],
  ['a permission nobody knows', { permission: 'admin' }, 'permission'],
  ['a mode nobody knows', { mode: 'prod' }, 'mode'],
  ['a mode that is null', { mode: null }, 'mode'],
  ['an expiry without an offset', { expiresAt: '2031-01-01T00:00:00' }, 'expiresAt'],
  ['an expiry that is a number', { expiresAt: NOW + 1 }, 'expiresAt'],
  ['an expiry that is past', { expiresAt: new Date(NOW - 1).toISOString() }, 'expiresAt'],
  ['an expiry that is now', { expiresAt: new Date(NOW).toISOString() }, 'expiresAt'],
  ['no addresses', { allowedIps: [] }, 'allowedIps'],
  ['21 addresses', { allowedIps: Array.from({ length: 21 }, (_, index) => `10.0.0.${index}`) }, 'allowedIps'],
  ['a host name', { allowedIps: ['::1', 'localhost'] }, 'allowedIps[1]'],
  ['an address that is a number', { allowedIps: [7] }, 'allowedIps[0]'],
  ['addresses as text', { allowedIps: '10.0.0.1' }, 'allowedIps'],
  ['a domain that is none', { domainId: 'example.com' }, 'domainId'],
  ['a domain that is a number', { domainId: 1 }, 'domainId'],
  ['a field in snake case', { allowed_ips: ['::1'] }, 'allowed_ips'],
];
for (const [name, changes, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const answer = await create({ ...BODY, ...changes });
    assert.deepEqual(
      [answer.status, answer.body.error.type, answer.body.error.param],
      [400, 'validation_error', param],
    );
  });
}

test('a name is changed, and no limit but the approval can be', async () => {
  const { token: _, ...before } = (await create(BODY)).body;
  const renamed = await ask('PATCH', before.id, world.testKey, { name: 'shop, old' });
  assert.deepEqual([renamed.status, renamed.body], [200, { ...before, name: 'shop, old' }]);
  assert.deepEqual((await ask('GET', before.id)).body, renamed.body);
  for (const field of ['permission', 'mode', 'domainId', 'allowedIps', 'expiresAt', 'hint', 'id']) {
    const { status, body } = await ask('PATCH', before.id, world.testKey, { name: 'x', [field]: null });
    assert.deepEqual([status, body.error.param], [400, field]);
  }
  assert.deepEqual((await ask('PATCH', before.id, world.testKey, {})).body, renamed.body);
  for (const body of [{ name: '' }, { name: null }]) {
    assert.equal((await ask('PATCH', before.id, world.testKey, body)).body.error.param, 'name');
  }
});

test('a key that is deleted opens nothing from the next request on, and is missing like any', async () => {
  const { id, token } = (await create({ ...BODY, permission: 'full_access' })).body;
  assert.equal((await world.request('GET', '/v1/topics', { key: token })).status, 200);
  const first = await ask('DELETE', id);
  assert.deepEqual([first.status, first.body], [204, '']);
  assert.equal((await world.request('GET', '/v1/topics', { key: token })).status, 401);
  assert.equal((await ask('DELETE', id)).status, 404);
  assert.equal((await ask('GET', id)).status, 404);
  assert.equal((await ask('PATCH', id, world.testKey, { name: 'x' })).status, 404);
  const { data } = (await world.request('GET', PATH)).body;
  assert.ok(!data.some((key: { id: string }) => key.id === id));
});

test('a key makes keys of its own mode only, and sees no others', async () => {
  const { testKey, liveKey } = await world.addTenant('modes');
  for (const [key, mode, otherMode] of [
    [testKey, 'test', 'live'],
    [liveKey, 'live', 'test'],
  ] as const) {
    const refused = await create({ ...BODY, mode: otherMode }, key);
    assert.deepEqual([refused.status, refused.body.error.type], [403, 'restricted_api_key']);
    assert.equal((await create(BODY, key)).body.mode, mode);
    const { data } = (await world.request('GET', PATH, { key })).body;
    assert.deepEqual(
      data.map((shown: { mode: Mode }) => shown.mode),
      [mode, mode],
    );
  }
});

test('a key with any limit manages no keys, and whichever it is it may revoke itself', async () => {
  const { id } = (await create(BODY)).body;
  const domainId = (await newDomain('manager.example')) as NonNullable<NewKey['domainId']>;
  for (const [name, limits] of Object.entries({
    sending: { permission: 'sending_access' },
    reading: { permission: 'read_only' },
    domain: { domainId },
    addresses: { allowedIps: ['127.0.0.0/8'] },
    expiry: { expiresAt: NOW + 3_600_000 },
  } satisfies Record<string, Partial<NewKey>>)) {
    const { key, token } = await keyWith(limits);
    for (const [method, path, body] of [
      ['POST', PATH, BODY],
      ['GET', PATH, undefined],
      ['GET', `${PATH}/${id}`, undefined],
      ['GET', `${PATH}/${key.id}`, undefined],
      ['PATCH', `${PATH}/${key.id}`, { name: 'x' }],
      ['DELETE', `${PATH}/${id}`, undefined],
      ['DELETE', `${PATH}/${newId('key', NOW)}`, undefined],
    ] as const) {
      const answer = await world.request(method, path, { key: token, ...(body && { body }) });
      assert.deepEqual(
        [answer.status, answer.body.error?.type],
        [403, 'restricted_api_key'],
        `${name} ${method} ${path}`,
      );
    }
    assert.equal((await ask('DELETE', key.id, token)).status, 204, name);
    assert.equal((await ask('DELETE', key.id, token)).status, 401, name);
  }
  assert.equal((await ask('GET', id)).status, 200);
  const whole = await keyWith({});
  assert.equal((await ask('DELETE', whole.key.id, whole.token)).status, 204);
});

test('a limit to a domain leaves reading as the permission has it', async () => {
  const domainId = (await newDomain('reader.example')) as NonNullable<NewKey['domainId']>;
  const { token } = await keyWith({ domainId });
  for (const path of ['/v1/emails', '/v1/domains', '/v1/topics', '/v1/plan']) {
    assert.equal((await world.request('GET', path, { key: token })).status, 200, path);
  }
});

test('a key is used from its addresses alone, checked at each request', async () => {
  const { token } = (
    await create({ ...BODY, permission: 'read_only', allowedIps: ['192.0.2.0/24', '2001:db8::7'] })
  ).body;
  for (const [peer, expected] of [
    ['192.0.2.9', [200, undefined]],
    ['::ffff:192.0.2.9', [200, undefined]],
    ['2001:db8::7', [200, undefined]],
    ['192.0.3.1', [403, 'restricted_api_key']],
    ['2001:db8::8', [403, 'restricted_api_key']],
    ['192.0.2.9', [200, undefined]],
    ['127.0.0.1', [403, 'restricted_api_key']],
  ] as const) {
    assert.deepEqual(await statusFrom(token, peer), expected, peer);
  }
  const forwarded = await world.request('GET', '/v1/topics', {
    key: token,
    headers: { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=192.0.2.9' },
  });
  assert.equal(forwarded.status, 403);
});

test('a key is valid until it expires', async () => {
  const expiresAt = new Date(clock.now() + 5_000).toISOString();
  const { id, token } = (await create({ ...BODY, permission: 'read_only', expiresAt })).body;
  await clock.advance(4_999);
  assert.equal((await world.request('GET', '/v1/topics', { key: token })).status, 200);
  await clock.advance(1);
  assert.equal((await world.request('GET', '/v1/topics', { key: token })).status, 401);
  assert.equal((await ask('GET', id)).body.expiresAt, expiresAt);
});

test('a tenant has at most 100 keys that open something; revoked and expired ones make room', async () => {
  const { testKey, tenantId } = await world.addTenant('collector');
  const expiresAt = clock.now() + 60_000;
  await keyWith({ tenantId, expiresAt });
  for (let count = 3; count < 100; count++) await keyWith({ tenantId });
  const refused = await create(BODY, testKey);
  assert.deepEqual(
    [refused.status, refused.body.error.type, refused.body.error.param],
    [400, 'validation_error', undefined],
  );
  assert.match(refused.body.error.message, /You have 100 API keys \(live and test together\)/);
  await clock.advance(60_000);
  const made = await create(BODY, testKey);
  assert.equal(made.status, 201);
  assert.equal((await create(BODY, testKey)).status, 400);
  await ask('DELETE', made.body.id, testKey);
  assert.equal((await create(BODY, testKey)).status, 201);
});

test('a key in use is found by its id', async () => {
  const owner = { tenantId: 'ten_1', mode: 'live' } as const;
  const one = await explain((tx) => getKeyInUse(tx, owner, 'key_1').catch(() => undefined));
  assert.match(one.join('\n'), /^SEARCH apiKeys USING INDEX \w+ \([^\n]*id=\?\)$/);
});

test('keys that have expired are not read to count the others', async () => {
  const key = { name: 'shop', mode: 'live', permission: 'full_access', hint: 'h', tokenHash: 't' } as const;
  const times = { createdAt: 0, lastUsedAt: null, expiresAt: null, revokedAt: null, requiresApproval: null };
  const plan = await explain(async (tx) => {
    await insertTenant.run(tx, { id: 'ten_1', name: 't', plan: 'free', createdAt: 0 });
    const row = {
      ...key,
      ...times,
      id: 'key_1',
      tenantId: 'ten_1',
      domainId: null,
      allowedIps: null,
      mailboxId: null,
      memberId: null,
    } as const;
    await insertApiKey.run(tx, row);
  });
  assert.deepEqual(
    plan.filter((line) => line.includes('apiKeys')),
    ['(tenantId=? AND expiresAt=?)', '(tenantId=? AND expiresAt>?)'].map(
      (range) => `SEARCH apiKeys USING INDEX apiKeysByExpiry ${range}`,
    ),
  );
});
