import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import { isId, newId } from '../../src/system/ids.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2030, 0, 1));

const testApp = await openTestApp({ system: { clock } });
const admin = await createControlServer(testApp.app);
after(async () => {
  await admin.close();
  await testApp.close();
});

async function ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, body?: object) {
  const response = await admin.inject({ method, url, ...(body && { payload: body }) });
  return { status: response.statusCode, body: response.json() };
}

async function assertRefused(answer: ReturnType<typeof ask>, status: number, type: string, param?: string) {
  const { body, ...rest } = await answer;
  assert.deepEqual({ status: rest.status, type: body.error?.type }, { status, type });
  assert.equal(body.error.param, param);
}

async function newTenant(name: string): Promise<string> {
  return (await ask('POST', '/tenants', { name })).body.id;
}

const KEY = { name: 'deploy', mode: 'live', permission: 'full_access' };

test('a tenant is created on the plan it is given, or without limits', async () => {
  let isTold = false;
  const stop = testApp.app.wakeups.listen('tenants', () => {
    isTold = true;
  });
  const { status, body } = await ask('POST', '/tenants', { name: 'Acme', plan: 'free' });
  stop();
  assert.ok(isTold, 'its plan may have a weight');
  assert.equal(status, 200);
  assert.ok(isId('ten', body.id));
  assert.deepEqual(body, {
    id: body.id,
    name: 'Acme',
    plan: 'free',
    status: 'active',
    createdAt: '2030-01-01T00:00:00.000Z',
  });
  assert.equal((await ask('POST', '/tenants', { name: 'Bee' })).body.plan, 'unlimited');
  const names = (await ask('GET', '/tenants')).body.map(({ name }: { name: string }) => name);
  assert.ok(names.includes('Acme') && names.includes('Bee') && names.includes('default'));
});

test('a name that is taken is refused with the id of who has it', async () => {
  const id = await newTenant('Twice');
  const answer = await ask('POST', '/tenants', { name: 'Twice' });
  assert.equal(answer.status, 409);
  assert.equal(answer.body.error.type, 'already_exists');
  assert.deepEqual(answer.body.error.details, { id });
});

test('an unknown plan, a missing name and one of control characters are bad requests', async () => {
  await assertRefused(ask('POST', '/tenants', { name: 'X', plan: 'gold' }), 400, 'validation_error', 'plan');
  await assertRefused(ask('POST', '/tenants', {}), 400, 'validation_error', 'name');
  for (const name of ['', 'a\nb', 'a\u0000b', 'x'.repeat(201), 7, null]) {
    await assertRefused(ask('POST', '/tenants', { name }), 400, 'validation_error', 'name');
  }
  await assertRefused(ask('POST', '/tenants'), 400, 'validation_error');
});

test('a plan is added, changed by its name, and then taken by tenants', async () => {
  const plan = {
    name: 'team',
    monthlyEmails: 50_000,
    requestsPerSecond: 20,
    storedMegabytes: 1_000,
    weight: 3,
  };
  assert.deepEqual((await ask('PUT', '/plans', plan)).body, plan);
  const changed = { ...plan, monthlyEmails: null, storedMegabytes: null };
  assert.deepEqual((await ask('PUT', '/plans', changed)).body, changed);
  const plans = (await ask('GET', '/plans')).body;
  assert.deepEqual(
    plans.filter(({ name }: { name: string }) => name === 'team'),
    [changed],
  );
  assert.equal((await ask('POST', '/tenants', { name: 'Team', plan: 'team' })).status, 200);
});

test('a plan with limits that are none is a bad request', async () => {
  const plan = { name: 'p', monthlyEmails: 1, requestsPerSecond: 1, storedMegabytes: 1, weight: 1 };
  for (const [changes, param] of [
    [{ name: 'Not Good' }, 'name'],
    [{ monthlyEmails: -1 }, 'monthlyEmails'],
    [{ monthlyEmails: 1.5 }, 'monthlyEmails'],
    [{ monthlyEmails: '10' }, 'monthlyEmails'],
    [{ requestsPerSecond: 0 }, 'requestsPerSecond'],
    [{ requestsPerSecond: undefined }, 'requestsPerSecond'],
    [{ storedMegabytes: -1 }, 'storedMegabytes'],
    [{ storedMegabytes: 1e9 + 1 }, 'storedMegabytes'],
    [{ storedMegabytes: undefined }, 'storedMegabytes'],
    [{ weight: 0 }, 'weight'],
    [{ weight: 101 }, 'weight'],
    [{ weight: 1.5 }, 'weight'],
  ] as const) {
    await assertRefused(ask('PUT', '/plans', { ...plan, ...changes }), 400, 'validation_error', param);
  }
});

test('a key is created for a tenant by its id or name, its token shown then and never again', async () => {
  const tenantId = await newTenant('Keys');
  const { status, body } = await ask('POST', '/keys', { ...KEY, tenant: tenantId });
  assert.equal(status, 200);
  const { token, ...shown } = body;
  assert.match(token, /^svc_prd_[0-9A-Za-z]{40}$/);
  assert.deepEqual(shown, {
    ...KEY,
    id: shown.id,
    tenantId,
    hint: token.slice(8, 16),
    domainId: null,
    allowedIps: null,
    createdAt: '2030-01-01T00:00:00.000Z',
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    requiresApproval: null,
    mailboxId: null,
  });
  const byName = await ask('POST', '/keys', { ...KEY, tenant: 'Keys', mode: 'test' });
  assert.match(byName.body.token, /^svc_dev_/);
  const listed = await ask('GET', `/keys?tenant=${tenantId}`);
  assert.deepEqual(listed.body.map(({ id }: { id: string }) => id).sort(), [shown.id, byName.body.id].sort());
  assert.deepEqual(
    listed.body.find(({ id }: { id: string }) => id === shown.id),
    { ...shown, domain: null },
  );
  assert.ok(!JSON.stringify(listed.body).includes(token.slice(-32)));
  assert.equal((await testApp.request('GET', '/v1/domains', { key: token })).status, 200);
});

test('keys of all tenants are listed, or of one', async () => {
  const all = (await ask('GET', '/keys')).body;
  const mine = (await ask('GET', '/keys?tenant=default')).body;
  assert.equal(mine.length, 2);
  assert.ok(all.length > mine.length);
  assert.ok(mine.every(({ tenantId }: { tenantId: string }) => tenantId === testApp.tenantId));
  await assertRefused(ask('GET', '/keys?tenant=nobody'), 404, 'not_found');
  await assertRefused(ask('GET', '/keys?tenant=default&tenant=nobody'), 400, 'validation_error', 'tenant');
});

test('a key for nobody, or of no known kind, is refused', async () => {
  await assertRefused(ask('POST', '/keys', { ...KEY, tenant: 'nobody' }), 404, 'not_found');
  await assertRefused(ask('POST', '/keys', { ...KEY, tenant: newId('ten', 1) }), 404, 'not_found');
  await assertRefused(ask('POST', '/keys', KEY), 400, 'validation_error', 'tenant');
  for (const [changes, param] of [
    [{ mode: 'prod' }, 'mode'],
    [{ mode: undefined }, 'mode'],
    [{ permission: 'admin' }, 'permission'],
    [{ permission: ['full_access'] }, 'permission'],
    [{ name: '' }, 'name'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ expiresAt: '1' }, 'expiresAt'],
    [{ expiresAt: '2031-01-01T00:00:00' }, 'expiresAt'],
    [{ expiresAt: '2031-13-01T00:00:00Z' }, 'expiresAt'],
    [{ expiresAt: '2027-02-30T00:00:00Z' }, 'expiresAt'],
    [{ expiresAt: 1_893_456_000_000 }, 'expiresAt'],
    [{ expiresAt: '2030-01-01T00:00:00Z' }, 'expiresAt'],
    [{ domain: 'nobodys.example' }, 'domain'],
    [{ domain: newId('dom', 1) }, 'domain'],
    [{ allowedIps: [] }, 'allowedIps'],
    [{ allowedIps: ['10.0.0.0/33'] }, 'allowedIps[0]'],
  ] as const) {
    await assertRefused(
      ask('POST', '/keys', { ...KEY, tenant: 'default', ...changes }),
      400,
      'validation_error',
      param,
    );
  }
});

test('a key is limited to a domain of its tenant, by id or name, and to addresses', async () => {
  const created = await testApp.request('POST', '/v1/domains', { body: { name: 'limited.example' } });
  const domainId = created.body.id;
  for (const domain of [domainId, 'Limited.Example']) {
    const asked = { ...KEY, tenant: 'default', domain, allowedIps: ['10.1.2.3/8', '::1'] };
    const { status, body } = await ask('POST', '/keys', asked);
    assert.deepEqual([status, body.domainId, body.allowedIps], [200, domainId, ['10.0.0.0/8', '::1']]);
  }
  const tenant = await newTenant('No domains');
  const foreign = { ...KEY, tenant, domain: 'limited.example' };
  await assertRefused(ask('POST', '/keys', foreign), 400, 'validation_error', 'domain');
});

test('a tenant is put on another plan, which counts from the next request on', async () => {
  const { tenantId, liveKey } = await testApp.addTenant('Mover');
  const headersOf = async () => (await testApp.request('GET', '/v1/topics', { key: liveKey })).headers;
  assert.equal((await headersOf())['ratelimit-limit'], undefined);
  const { status, body } = await ask('PATCH', `/tenants/${tenantId}`, { plan: 'free' });
  assert.deepEqual(
    [status, body],
    [
      200,
      { id: tenantId, name: 'Mover', plan: 'free', status: 'active', createdAt: '2030-01-01T00:00:00.000Z' },
    ],
  );
  assert.equal((await headersOf())['ratelimit-limit'], '5');
  assert.equal((await ask('PATCH', '/tenants/Mover', { plan: 'unlimited' })).body.plan, 'unlimited');
  assert.equal((await headersOf())['ratelimit-limit'], undefined);
  await assertRefused(ask('PATCH', '/tenants/Mover', { plan: 'gold' }), 400, 'validation_error', 'plan');
  await assertRefused(ask('PATCH', '/tenants/Mover', {}), 400, 'validation_error', 'plan');
  await assertRefused(ask('PATCH', '/tenants/nobody', { plan: 'free' }), 404, 'not_found');
});

test('an expiry is a moment, wherever it was written', async () => {
  const expiring = { ...KEY, tenant: 'default', expiresAt: '2031-01-01T08:00:00+08:00' };
  assert.equal((await ask('POST', '/keys', expiring)).body.expiresAt, '2031-01-01T00:00:00.000Z');
});

test('a key is revoked once: doing it again keeps the first time', async () => {
  const { body: key } = await ask('POST', '/keys', { ...KEY, tenant: 'default' });
  const first = (await ask('DELETE', `/keys/${key.id}`)).body.revokedAt;
  await clock.advance(5_000);
  assert.equal((await ask('DELETE', `/keys/${key.id}`)).body.revokedAt, first);
  assert.equal((await testApp.request('GET', '/v1/domains', { key: key.token })).status, 401);
  for (const id of [newId('key', 1), 'nonsense', testApp.tenantId]) {
    await assertRefused(ask('DELETE', `/keys/${id}`), 404, 'not_found');
  }
});

test('the tenant of the installation is no tenant for anybody: its name is taken, and nothing else of it can be seen', async () => {
  const id = INSTALLATION_TENANT;
  const listed = (await ask('GET', '/tenants')).body.map((tenant: { id: string }) => tenant.id);
  assert.ok(!listed.includes(id));
  await assertRefused(ask('POST', '/tenants', { name: 'installation' }), 409, 'already_exists');
  for (const tenant of [id, 'installation']) {
    await assertRefused(ask('POST', '/keys', { tenant, ...KEY }), 404, 'not_found');
    await assertRefused(ask('PATCH', `/tenants/${tenant}`, { plan: 'free' }), 404, 'not_found');
    await assertRefused(ask('GET', `/keys?tenant=${tenant}`), 404, 'not_found');
  }
});
