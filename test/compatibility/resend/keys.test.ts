/** The door takes and refuses API keys as the operations behind it do, and counts their requests with those of /v1. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CALLS } from '../../../src/compatibility/resend/api.ts';
import type { OpenApiDocument } from '../../../src/http/json/openapi.ts';
import { newId } from '../../../src/system/ids.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { storePlan } from '../../support/store-plan.ts';
import { openTestApp, type TestMethod } from '../../support/test-app.ts';

const PREFIX = '/compat/resend';
const DAY_MS = 86_400_000;
const clock = createFakeClock(Date.UTC(2030, 0, 1));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app, request } = testApp;
const document = (await request('GET', '/v1/openapi.json')).body as OpenApiDocument;

/** Method and path of each operation, by its id. */
const operations = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [
      operationId,
      { method: method.toUpperCase() as TestMethod, path: path.replace(/\{\w+\}/g, 'unknown') },
    ]),
  ),
);

/** Names and statuses of refusals of keys in the API of Resend. */
const REFUSALS: Readonly<Record<string, string>> = {
  missing_api_key: '401 missing_api_key',
  invalid_api_key: '403 invalid_api_key',
  restricted_api_key: '401 restricted_api_key',
};

const { body: domain } = await request('POST', '/v1/domains', { body: { name: 'one.example' } });
const keys = {
  none: null,
  unknown: 'svc_dev_00000000000000000000000000000000',
  'read-only': await testApp.newKey({ permission: 'read_only' }),
  sending: await testApp.newKey({ permission: 'sending_access' }),
  'of one domain': await testApp.newKey({ domainId: domain.id }),
  'sending of one domain': await testApp.newKey({ permission: 'sending_access', domainId: domain.id }),
  'requiring approval': await testApp.newKey({ requiresApproval: 'broadcasts_and_emails' }),
  'of other addresses': await testApp.newKey({ allowedIps: ['192.0.2.1/32'] }),
  expired: await testApp.newKey({ expiresAt: clock.now() - DAY_MS }),
  full: testApp.testKey,
};

for (const [name, key] of Object.entries(keys))
  test(`a key (${name}) is refused at the door exactly where its operation refuses it`, async () => {
    for (const { at, operation } of CALLS) {
      // Refused keys count towards their address, whose limit this test must not reach.
      await clock.advance(1_000);
      const native = operations.get(operation);
      assert.ok(native, operation);
      const [method = '', path = ''] = at.split(' ');
      const ask = (asked: TestMethod, url: string) =>
        request(asked, url, { key, ...(asked !== 'GET' && { body: {} }) });
      const expected = await ask(native.method, native.path);
      const answer = await ask(method as TestMethod, PREFIX + path.replace(/:\w+/g, 'unknown'));
      const refusal = REFUSALS[expected.body?.error?.type];
      const shown = `${answer.status} ${answer.body?.name}`;
      if (refusal === undefined)
        assert.ok(!Object.values(REFUSALS).includes(shown), `${at}: ${shown} ${answer.body?.message}`);
      else assert.equal(shown, refusal, at);
    }
  });

test('no call has a route in the OpenAPI document, and each is answered in the shape of Resend', async () => {
  assert.deepEqual(
    Object.keys(document.paths).filter((path) => !path.startsWith('/v1/')),
    [],
  );
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['PUT', '/emails'],
    ['GET', '/automations/1/runs'],
    ['GET', '/emails/metrics'],
    ['GET', ''],
    // Paths that are refused before a route is looked for.
    ['GET', '/contacts/50%off@shop.example'],
    ['GET', `/contacts/${'x'.repeat(600)}`],
  ] as const) {
    const { status, body } = await request(method, PREFIX + path);
    assert.deepEqual(Object.keys(body), ['statusCode', 'name', 'message'], path);
    assert.equal(body.statusCode, status);
  }
});

test('requests to the door and to /v1 share one rate', async () => {
  const { tenantId } = await testApp.addTenant('counted');
  const key = await testApp.newKey({ tenantId });
  await storePlan(app.db, 'unlimited', { requestsPerSecond: 3 });
  app.wakeups.notify('tenants');
  const remaining = async (path: string) => {
    const { status, headers, body } = await request('GET', path, { key });
    return [status, headers['ratelimit-remaining'], body?.name];
  };
  for (const left of ['5', '4', '3', '2', '1', '0']) {
    const path = Number(left) % 2 === 0 ? '/v1/domains' : `${PREFIX}/domains`;
    assert.deepEqual(await remaining(path), [200, left, undefined]);
  }
  assert.deepEqual(await remaining(`${PREFIX}/domains`), [429, '0', 'rate_limit_exceeded']);
  await storePlan(app.db, 'unlimited', { requestsPerSecond: null });
  app.wakeups.notify('tenants');
});

test('refused keys at the door and at /v1 count towards the same address', async () => {
  await clock.advance(60_000);
  const paths = ['/v1/domains', `${PREFIX}/domains`];
  const statuses: number[] = [];
  for (let asked = 0; statuses.at(-1) !== 429 && asked < 1_000; asked++)
    statuses.push((await request('GET', paths[asked % 2] ?? '', { key: keys.unknown })).status);
  for (const path of paths)
    assert.equal((await request('GET', path, { key: keys.unknown })).status, 429, path);
  const { headers, body } = await request('GET', `${PREFIX}/domains`, { key: keys.unknown });
  assert.deepEqual([body.name, Number(headers['retry-after']) > 0], ['rate_limit_exceeded', true]);
  await clock.advance(60_000);
});

test('the log of requests has those to the door', async () => {
  const { testKey: key } = await testApp.addTenant('logged');
  await request('GET', `${PREFIX}/emails/${newId('em', 0)}`, { key });
  const { data } = (await request('GET', '/v1/request-log', { key })).body;
  assert.deepEqual(
    [data.length, data[0].route, data[0].status, data[0].errorType],
    [1, `${PREFIX}/emails/{id}`, 404, 'not_found'],
  );
});

test('the configuration closes the door', async () => {
  await using closed = await openTestApp({ env: { POSTRIDER_COMPATIBILITY_RESEND: 'false' } });
  const { status, body } = await closed.request('GET', `${PREFIX}/emails`);
  assert.deepEqual([status, body.error.type], [404, 'not_found']);
});
