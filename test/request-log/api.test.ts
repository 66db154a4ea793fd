import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestMethod, type TestRequest } from '../support/test-app.ts';

const NOW = '2030-01-01T00:00:00.000Z';
const clock = createFakeClock(Date.parse(NOW));
const testApp = await openTestApp({ system: { clock } });
const { testKey, liveKey } = testApp;
const stranger = await testApp.addTenant('stranger');
after(() => testApp.close());

/** Sends a request, each in a millisecond of its own, and returns its id. */
async function ask(method: TestMethod, path: string, options?: TestRequest): Promise<string> {
  await clock.advance(1);
  return String((await testApp.request(method, path, options)).headers['x-request-id']);
}

async function logged(query = '', key = testKey) {
  const { status, body } = await testApp.request('GET', `/v1/request-log${query}`, { key });
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

const idsIn = async (query = '', key = testKey) =>
  (await logged(query, key)).map(({ id }: { id: string }) => id);

test('a request is shown with its route, its status, its sizes and its client as soon as it is answered', async () => {
  const id = await ask('POST', '/v1/topics?secret=query', {
    body: { name: 'News', description: 'secret body' },
  });
  const [{ createdAt, keyId, durationMs, responseBytes, ...rest }] = await logged();
  assert.deepEqual(rest, {
    id,
    method: 'POST',
    route: '/v1/topics',
    path: '/v1/topics',
    status: 201,
    errorType: null,
    requestBytes: JSON.stringify({ name: 'News', description: 'secret body' }).length,
    clientAddress: '127.0.0.1',
  });
  assert.match(createdAt, /^2030-01-01T00:00:00\.\d{3}Z$/);
  assert.ok(durationMs >= 0 && responseBytes > 100 && keyId.startsWith('key_'));
});

test('nothing of a body, a query or a key is stored', async () => {
  await ask('POST', `/v1/topics/${liveKey}?x=secret`, { body: { name: 'secret' } });
  await ask('GET', `/v1/emails/a${testKey}b/c`);
  await logged();
  const rows = await testApp.app.db.read.selectFrom('requestLog').selectAll().execute();
  const text = JSON.stringify(rows);
  assert.doesNotMatch(text, /secret/);
  for (const key of [liveKey, testKey]) assert.ok(!text.includes(key.slice(8, 20)), 'a key is hidden');
  assert.match(text, /"\/v1\/topics\/svc_prd_…"/);
});

test('refusals have the type of their error, and unknown paths have no route', async () => {
  await ask('GET', '/v1/emails/em_nothing');
  await ask('GET', '/v1/nothing');
  await ask('POST', '/v1/plan', { body: {} });
  await ask('POST', '/v1/topics', { body: { name: 1 } });
  const sending = await testApp.newKey({ permission: 'sending_access' });
  await ask('GET', '/v1/topics', { key: sending });
  const shown = (await logged('?limit=5')).map(({ route, status, errorType }: Record<string, unknown>) => [
    route,
    status,
    errorType,
  ]);
  assert.deepEqual(shown, [
    ['/v1/topics', 403, 'restricted_api_key'],
    ['/v1/topics', 400, 'validation_error'],
    [null, 405, 'method_not_allowed'],
    [null, 404, 'not_found'],
    ['/v1/emails/{id}', 404, 'not_found'],
  ]);
});

test('requests without a valid key and reads of the log itself are not part of it', async () => {
  const before = await idsIn();
  await ask('GET', '/v1/topics', { key: null });
  await ask('GET', '/v1/topics', { key: `${testKey}x` });
  await ask('GET', '/healthz', { key: null });
  assert.deepEqual(await idsIn(), before);
});

test('a tenant sees its own requests alone, and a key those of its own mode', async () => {
  const theirs = await ask('GET', '/v1/plan', { key: stranger.testKey });
  const live = await ask('GET', '/v1/plan', { key: liveKey });
  const own = await ask('GET', '/v1/plan');
  assert.deepEqual(await idsIn('', stranger.testKey), [theirs]);
  assert.deepEqual(await idsIn('', stranger.liveKey), []);
  assert.deepEqual(await idsIn('', liveKey), [live]);
  const all = await idsIn('?limit=100');
  assert.ok(all.includes(own) && !all.includes(live) && !all.includes(theirs));
  assert.deepEqual(await idsIn(`?endingBefore=${theirs}`, liveKey), [live]);
});

test('a key that is limited to sending is refused', async () => {
  const key = await testApp.newKey({ permission: 'sending_access' });
  assert.equal((await testApp.request('GET', '/v1/request-log', { key })).status, 403);
});

test('filters select by class of status, method, key and beginning of the path, alone and together', async () => {
  const { testKey: key } = await testApp.addTenant('filters');
  const missing = await ask('GET', '/v1/emails/em_nothing', { key });
  const made = await ask('POST', '/v1/topics', { key, body: { name: 'News' } });
  const refused = await ask('POST', '/v1/topics', { key, body: {} });
  const { keyId } = (await logged('', key))[0];
  for (const [query, ids] of [
    ['', [refused, made, missing]],
    ['?status=2xx', [made]],
    ['?status=4xx', [refused, missing]],
    ['?status=5xx', []],
    ['?method=POST', [refused, made]],
    ['?method=POST&status=4xx', [refused]],
    [`?keyId=${keyId}`, [refused, made, missing]],
    ['?keyId=key_other', []],
    ['?path=/v1/em', [missing]],
    ['?path=/v1/%25', []],
    ['?limit=1', [refused]],
    [`?startingAfter=${refused}&limit=1`, [made]],
    [`?endingBefore=${missing}`, [refused, made]],
  ] as const)
    assert.deepEqual(await idsIn(query, key), ids, query);
});

test('a full page says where the next one begins', async () => {
  const { testKey: key } = await testApp.addTenant('pages');
  for (const _ of [1, 2, 3]) await ask('GET', '/v1/plan', { key });
  const first = (await testApp.request('GET', '/v1/request-log?limit=2', { key })).body;
  assert.equal(first.hasMore, true);
  const next = (await testApp.request('GET', `/v1/request-log?startingAfter=${first.nextCursor}`, { key }))
    .body;
  assert.deepEqual([next.data.length, next.hasMore], [1, false]);
});
