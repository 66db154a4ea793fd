/** The door of `/mcp`: who may speak there, in which revisions of the protocol, and what becomes of everything else. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { storePlan } from '../support/store-plan.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';
import { connectAgent } from './agent.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({
  system: { clock },
  env: { POSTRIDER_HTTP_TRUSTED_PROXIES: '192.0.2.80' },
});
after(() => world.close());

const SANDBOX = 'hello@sandbox.mx.postrider.example';
const MAIL = { from: SANDBOX, to: ['delivered@simulator.mx.postrider.example'], subject: 'Hi', text: 'Hi' };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

type Raw = {
  body?: unknown;
  method?: 'GET' | 'POST' | 'DELETE' | 'OPTIONS';
  headers?: Record<string, string>;
  from?: string;
  key?: string | null;
};

/** Sends one request as a program of 2025 does, and returns the status, the headers and the body. */
async function send({
  body = LIST,
  method = 'POST',
  headers = {},
  from = '127.0.0.1',
  key = world.testKey,
}: Raw) {
  const response = await world.inject({
    method,
    url: '/mcp',
    remoteAddress: from,
    headers: {
      host: 'localhost:8025',
      accept: 'application/json, text/event-stream',
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(method === 'POST' && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

test('without a valid key the answer is 401, which asks for one, whatever the body is', async () => {
  for (const key of [null, 'svc_dev_unknown', world.testKey.slice(0, -1)]) {
    const { status, headers, text } = await send({ key, body: 'not JSON' });
    assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer']);
    assert.match(text, /api_key/);
  }
});

test('pages of other sites are refused, also under a name that leads to this machine', async () => {
  const statusOf = async (headers: Record<string, string>) => (await send({ headers })).status;
  assert.equal(await statusOf({ origin: 'http://localhost:8025' }), 200);
  for (const origin of ['https://evil.example', 'http://localhost:3000', 'null', ''])
    assert.equal(await statusOf({ origin }), 403, origin);
  assert.equal(await statusOf({ host: 'evil.example:8025', origin: 'http://evil.example:8025' }), 403);
  assert.equal(await statusOf({ host: 'evil.example:8025' }), 403);
});

test('keys travel over HTTPS, and over plain HTTP on this machine alone', async () => {
  const host = 'mx.postrider.example';
  const proxied = { host, 'x-forwarded-for': '203.0.113.5' };
  const from = '192.0.2.80';
  assert.equal((await send({ from: '203.0.113.5', headers: { host } })).status, 403);
  assert.equal((await send({ from, headers: proxied })).status, 403);
  assert.equal((await send({ from, headers: { ...proxied, 'x-forwarded-proto': 'https' } })).status, 200);
  const other = { ...proxied, host: 'evil.example', 'x-forwarded-proto': 'https' };
  assert.equal((await send({ from, headers: other })).status, 403);
  const claimed = { host, 'x-forwarded-proto': 'https' };
  assert.equal((await send({ from: '203.0.113.5', headers: claimed })).status, 403);
});

test('a key is good only from the addresses that it allows, and only as long as it is valid', async () => {
  const bound = await world.newKey({ allowedIps: ['127.0.0.1'] });
  const made = await world.request('POST', '/v1/api-keys', {
    body: { name: 'agent', permission: 'full_access', allowedIps: ['203.0.113.0/24'] },
  });
  assert.equal((await send({ key: bound })).status, 200);
  assert.equal((await send({ key: made.body.token })).status, 403);

  const brief = await world.request('POST', '/v1/api-keys', {
    body: { name: 'brief', permission: 'full_access' },
  });
  await using agent = await connectAgent(world, brief.body.token);
  assert.equal((await agent.call('list_domains')).isError, false);
  await world.request('DELETE', `/v1/api-keys/${brief.body.id}`);
  await assert.rejects(agent.call('list_domains'), /invalid_api_key/);
});

test('the rights of a key hold in every tool, and the refusal says what it lacks', async () => {
  await using reader = await connectAgent(world, await world.newKey({ permission: 'read_only' }));
  assert.equal((await reader.call('list_audiences')).isError, false);
  for (const [name, given] of [
    ['send_email', MAIL],
    ['verify_domain', { domain: 'mx.example' }],
    ['remove_suppression', { suppressionId: 'sup_01khq3z5vgxw1r8t6n2m4c9b7d' }],
  ] as const) {
    const refused = await reader.call(name, given);
    assert.equal(refused.isError, true, name);
    if (name !== 'verify_domain')
      assert.match(
        refused.text,
        /^Refused \(restricted_api_key\): This API key \(read_only\) does not permit this request\./,
      );
  }
  await using sender = await connectAgent(world, await world.newKey({ permission: 'sending_access' }));
  const { facts } = await sender.use('send_email', MAIL);
  assert.match((await sender.use('show_email', { emailId: facts.id })).text, /is queued/);
  assert.match((await sender.call('list_audiences')).text, /Refused \(restricted_api_key\)/);
});

test('a key of one domain finds nothing of others, and a test key sends nothing live', async () => {
  const added = await world.request('POST', '/v1/domains', { body: { name: 'one.example' } });
  await using bound = await connectAgent(world, await world.newKey({ domainId: added.body.id }));
  await using whole = await connectAgent(world, world.testKey);
  const { facts } = await whole.use('send_email', MAIL);
  assert.match((await bound.call('show_email', { emailId: facts.id })).text, /Refused \(not_found\)/);
  assert.match((await bound.call('send_email', MAIL)).text, /Refused \(/);
  assert.match((await whole.use('show_email', { emailId: facts.id })).text, /"mode": "test"/);
});

test('messages and the operations of tools share the rate limit of the API', async (t) => {
  t.after(() => storePlan(world.app.db, 'unlimited'));
  await storePlan(world.app.db, 'unlimited', { requestsPerSecond: 2 });
  const { testKey } = await world.addTenant('limited');
  await using agent = await connectAgent(world, testKey);
  assert.equal((await agent.call('list_domains')).isError, false);
  // Three of the burst of four are used, the first to connect. This tool takes one for its message, and needs three more.
  const refused = await agent.call('list_audiences');
  assert.match(
    refused.text,
    /Refused \(rate_limited\): Your plan allows 2 requests per second\.\nTry again after 1 seconds\./,
  );
  await assert.rejects(agent.call('list_domains'), /429|per second/);
  assert.equal((await world.request('GET', '/v1/domains', { key: testKey })).status, 429);
});

test('the operations of tools are in the request log of the tenant', async () => {
  await using agent = await connectAgent(world, world.testKey);
  await agent.use('list_templates');
  await clock.advance(2_000);
  await waitUntil(async () => {
    const { body } = await world.request('GET', '/v1/request-log?path=/v1/templates');
    return body.data.length > 0;
  });
});

test('only POST is allowed, with one message in JSON of a bounded size', async () => {
  for (const method of ['GET', 'DELETE', 'OPTIONS'] as const) {
    const { status, headers } = await send({ method });
    assert.deepEqual([status, headers['allow']], [405, 'POST'], method);
  }
  assert.equal((await send({ body: [LIST, LIST] })).status, 400);
  assert.equal((await send({ body: '{' })).status, 400);
  assert.equal((await send({ body: '' })).status, 400);
  assert.equal((await send({ body: 'null' })).status, 400);
  assert.equal((await send({ body: '['.repeat(100_000) })).status, 400);
  assert.equal((await send({ headers: { 'content-type': 'text/plain' } })).status, 415);
  assert.equal(
    (await send({ body: { ...LIST, params: { filler: 'x'.repeat(5 * 1024 * 1024) } } })).status,
    413,
  );
  assert.equal((await send({ headers: { accept: 'application/json' } })).status, 406);
});

test('programs of older revisions are served without a session', async () => {
  for (const protocolVersion of ['2025-03-26', '2025-06-18', '2025-11-25']) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    const begun = await send({ body: { jsonrpc: '2.0', id: 0, method: 'initialize', params } });
    assert.equal(begun.status, 200, begun.text);
    assert.match(begun.text, new RegExp(`"protocolVersion":"${protocolVersion}"`));
    assert.equal(begun.headers['mcp-session-id'], undefined);
    const notified = await send({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
    assert.deepEqual([notified.status, notified.text], [202, '']);
    const listed = await send({
      headers: { 'mcp-protocol-version': protocolVersion, 'mcp-session-id': 'x' },
    });
    assert.equal(listed.status, 200);
    assert.match(listed.text, /"name":"send_email"/);
  }
  await using agent = await connectAgent(world, world.testKey, { version: 'legacy' });
  assert.equal((await agent.use('send_email', MAIL)).facts.status, 'queued');
});

test('a message of the newest revision whose headers contradict it is refused, as is an unknown method', async () => {
  const version = '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'new', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = (method: string, more = {}) => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { _meta: meta, ...more },
  });
  const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' };
  const codeOf = (text: string) => JSON.parse(text).error?.code;

  const good = await send({ body: message('tools/list'), headers });
  assert.deepEqual([good.status, good.headers['content-type']], [200, 'application/json']);
  assert.equal(JSON.parse(good.text).result.ttlMs, 300_000);
  const contradicting = await send({ body: message('tools/call', { name: 'list_domains' }), headers });
  assert.deepEqual([contradicting.status, codeOf(contradicting.text)], [400, -32020]);
  const unknown = await send({
    body: message('prompts/list'),
    headers: { ...headers, 'mcp-method': 'prompts/list' },
  });
  assert.deepEqual([unknown.status, codeOf(unknown.text)], [404, -32601]);
  const future = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
  const later = await send({
    body: { ...message('tools/list'), params: { _meta: future } },
    headers: { ...headers, 'mcp-protocol-version': '2099-01-01' },
  });
  assert.deepEqual([later.status, codeOf(later.text)], [400, -32022]);
  const listening = await send({
    body: message('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    headers: { ...headers, 'mcp-method': 'subscriptions/listen' },
  });
  assert.equal(codeOf(listening.text), -32603);
});

test('unknown tools are an error of the protocol, and wrong arguments one of the tool, which names each', async () => {
  await using agent = await connectAgent(world, world.testKey);
  await assert.rejects(agent.call('delete_everything'), /Unknown tool: delete_everything/);
  await assert.rejects(agent.call('__proto__'), /Unknown tool/);
  const wrong = await agent.call('send_email', {
    ...MAIL,
    to: 'a@b.example',
    cc: [],
    attachment: 'x',
    subject: 7,
  });
  assert.equal(wrong.isError, true);
  for (const line of ['`to` must be', '`cc` must', '`attachment`', '`subject` must be a string'])
    assert.ok(wrong.text.includes(line), `${line}: ${wrong.text}`);
  const large = await agent.call('send_email', {
    ...MAIL,
    text: 'x'.repeat(200_001),
    to: Array(51).fill(SANDBOX),
  });
  assert.match(large.text, /`to` must have at most 50 items\n- `text` must have at most 200000 characters/);
  assert.match(
    (await agent.call('show_email', { emailId: '../api-keys' })).text,
    /`emailId` has a form that is not allowed: .* begins with em_\./,
  );
  assert.match(
    (await agent.call('show_email', { emailId: 'em_..' })).text,
    /`emailId` has a form that is not allowed: .* begins with em_\./,
  );
});

test('the door is closed by a setting', async () => {
  await using closed = await openTestApp({ env: { POSTRIDER_MCP_ENABLED: 'false' } });
  const response = await closed.inject({
    method: 'POST',
    url: '/mcp',
    headers: { host: 'localhost', authorization: `Bearer ${closed.testKey}` },
    payload: LIST,
  });
  assert.equal(response.statusCode, 404);
});
