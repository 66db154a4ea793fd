import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { csvBody } from '../../../src/http/json/csv-body.ts';
import { MAX_BODY_BYTES } from '../../../src/http/json/server.ts';
import { isId } from '../../../src/system/ids.ts';
import { serve } from '../serve.ts';

const { server, errors, send } = await serve();
const JSON_TYPE = { 'content-type': 'application/json' };
const post = (payload: string, headers: Record<string, string> = JSON_TYPE) =>
  send({ method: 'POST', url: '/things', headers, payload });

/** The one shape of every refusal. */
function assertProblem(
  { status, headers, body }: Awaited<ReturnType<typeof send>>,
  expected: { status: number; type: string; message?: RegExp; param?: string },
): void {
  assert.deepEqual({ status, type: body.error?.type }, { status: expected.status, type: expected.type });
  assert.match(String(headers['content-type']), /^application\/json/);
  assert.deepEqual(Object.keys(body), ['error']);
  assert.ok(isId('req', body.error.requestId));
  assert.equal(headers['x-request-id'], body.error.requestId);
  assert.match(body.error.message, expected.message ?? /./);
  assert.equal(body.error.param, expected.param);
}

test('a body that is not JSON is a bad request', async () => {
  for (const text of ['{', '{"name":', 'name=1', '{"name":"a"} x', "{'name':'a'}"]) {
    assertProblem(await post(text), { status: 400, type: 'validation_error', message: /cannot be read/ });
  }
});

test('a body of another type is unsupported', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense']) {
    assertProblem(await post('{"name":"a"}', { 'content-type': type }), {
      status: 415,
      type: 'unsupported_media_type',
    });
  }
  assertProblem(await post('{"name":"a"}', {}), { status: 415, type: 'unsupported_media_type' });
});

test('a compressed body is unsupported, whatever it holds', async () => {
  assertProblem(await post('{"name":"a"}', { ...JSON_TYPE, 'content-encoding': 'gzip' }), {
    status: 415,
    type: 'unsupported_media_type',
    message: /Content-Encoding/,
  });
  assert.equal((await post('{"name":"a"}', { ...JSON_TYPE, 'content-encoding': 'Identity' })).status, 200);
});

test('a charset or another parameter on the type is accepted', async () => {
  const { status } = await post('{"name":"a"}', { 'content-type': 'application/json; charset=utf-8' });
  assert.equal(status, 200);
});

test('a body of more than the limit is too large, and one of the limit is not', async () => {
  const fill = (bytes: number) => `{"name":"${'x'.repeat(bytes - '{"name":""}'.length)}"}`;
  assert.equal((await post(fill(MAX_BODY_BYTES))).status, 200);
  assertProblem(await post(fill(MAX_BODY_BYTES + 1)), { status: 413, type: 'payload_too_large' });
});

test('a body where one is needed, but there is none, is a bad request', async () => {
  const refusal = {
    status: 400,
    type: 'validation_error',
    message: /^A JSON body is required, with `name`$/,
  };
  assertProblem(await post(''), refusal);
  assertProblem(await send({ method: 'POST', url: '/things' }), refusal);
  for (const text of ['null', '[]', '7', '"x"']) {
    assertProblem(await post(text), {
      status: 400,
      type: 'validation_error',
      message: /^The body must be an object$/,
    });
  }
});

test('a body that needs more than one field, or none, is asked for without naming any', async () => {
  const { send: ask } = await serve({}, (one) => {
    for (const [url, properties] of [
      ['/two', { a: Type.String(), b: Type.String() }],
      ['/none', {}],
    ] as const)
      one.post(url, { schema: { body: Type.Object(properties) } }, async () => ({}));
    const file = csvBody('Rows.', 'a,b');
    one.post('/rows', { config: { takesCsv: true }, schema: { body: file } }, async () => ({}));
  });
  for (const [url, message] of [
    ['/two', /^A JSON body is required$/],
    ['/none', /^A JSON body is required$/],
    ['/rows', /^A CSV body is required$/],
  ] as const) {
    assertProblem(await ask({ method: 'POST', url }), { status: 400, type: 'validation_error', message });
  }
});

test('bodies are taken as they are: a number in quotes is no number', async () => {
  for (const text of [
    '{"name":5}',
    '{"name":null}',
    '{"name":"a","size":"3"}',
    '{"name":"a","open":"true"}',
    '{"name":"a","open":1}',
    '{"name":"a","to":{"email":"x"}}',
  ]) {
    assertProblem(await post(text), { ...(await post(text)).body.error, status: 400, message: /must be/ });
  }
  const { body } = await post('{"name":"a","size":3,"open":true,"more":{"x":[1]}}');
  assert.deepEqual(body.got, { name: 'a', size: 3, open: true, more: { x: [1] } });
});

test('query strings are text, and read as what the schema says', async () => {
  const { body } = await send({ method: 'GET', url: '/things?limit=7' });
  assert.deepEqual(body.got, { limit: 7 });
});

test('an empty body of JSON type is no body', async () => {
  assert.equal((await send({ method: 'DELETE', url: '/things/1', headers: JSON_TYPE })).status, 204);
  const sent = await send({ method: 'POST', url: '/things/1/send', headers: JSON_TYPE });
  assert.deepEqual({ status: sent.status, got: sent.body.got }, { status: 200, got: null });
});

test('an unknown path is not found', async () => {
  for (const url of ['/nothing', '/things/1/2', '/THINGS', '//', '/', '/things%3fx=/things/1', '/things;x']) {
    assertProblem(await send({ method: 'GET', url }), {
      status: 404,
      type: 'not_found',
      message: /^Path not found$/,
    });
  }
});

test('a path that cannot be decoded is a bad request', async () => {
  assertProblem(await send({ method: 'GET', url: '/things/%zz' }), { status: 400, type: 'validation_error' });
});

test('an id longer than any is not found', async () => {
  const { status } = await send({ method: 'GET', url: `/things/${'x'.repeat(5_000)}` });
  assert.ok(status === 404 || status === 414, `${status}`);
});

test('an unknown method on a known path is refused with the list of allowed methods', async () => {
  for (const [method, url, allow] of [
    ['PUT', '/things', 'GET, HEAD, POST'],
    ['DELETE', '/things?limit=3', 'GET, HEAD, POST'],
    ['POST', '/things/1', 'DELETE, GET, HEAD'],
    ['GET', '/things/1/send', 'POST'],
    ['OPTIONS', '/things', 'GET, HEAD, POST'],
  ] as const) {
    const answer = await send({ method, url });
    assertProblem(answer, { status: 405, type: 'method_not_allowed' });
    assert.equal(answer.headers.allow, allow);
  }
});

test('HEAD answers as GET does, without the body', async () => {
  const head = await send({ method: 'HEAD', url: '/things/1' });
  const get = await send({ method: 'GET', url: '/things/1' });
  assert.equal(head.status, 200);
  assert.equal(head.body, undefined);
  assert.equal(head.headers['content-length'], get.headers['content-length']);
  assert.equal((await send({ method: 'HEAD', url: '/nothing' })).status, 404);
});

test('a refusal carries its status, details and when to come back, and never its cause', async () => {
  const answer = await send({ method: 'GET', url: '/refused' });
  assertProblem(answer, {
    status: 409,
    type: 'domain_in_use',
    param: 'name',
    message: /^Two emails are scheduled$/,
  });
  assert.deepEqual(answer.body.error.details, { scheduledEmails: 2 });
  assert.equal(answer.headers['retry-after'], '5');
  assert.ok(!JSON.stringify(answer.body).includes('hidden'));
});

test('a refusal for lack of memory has a Retry-After of a few seconds by default', async () => {
  const answer = await send({ method: 'GET', url: '/full' });
  assertProblem(answer, { status: 503, type: 'unavailable' });
  assert.equal(answer.headers['retry-after'], '2');
});

test('anything unforeseen is a 500 that says nothing, and is logged with all of it', async () => {
  errors.length = 0;
  const answer = await send({ method: 'GET', url: '/broken' });
  assertProblem(answer, {
    status: 500,
    type: 'internal_error',
    message: /^The server failed to process the request$/,
  });
  assert.ok(!JSON.stringify(answer.body).includes('secret'));
  const [logged] = errors;
  assert.equal(errors.length, 1);
  assert.equal(logged?.err.message, 'secret detail of a bug');
  assert.equal(logged.requestId, answer.body.error.requestId);
  assert.equal(logged.route, '/broken');
  assertProblem(await send({ method: 'GET', url: '/odd' }), { status: 500, type: 'internal_error' });
});

test('refusals are not logged as errors', async () => {
  errors.length = 0;
  await post('{');
  await send({ method: 'GET', url: '/refused' });
  await send({ method: 'GET', url: '/nothing' });
  assert.deepEqual(errors, []);
});

test('every answer has a request id of its own', async () => {
  const ids = new Set<unknown>();
  for (const url of ['/things/1', '/nothing', '/refused', '/broken', '/things/%zz', '/things/1']) {
    const { headers } = await send({
      method: 'GET',
      url,
      headers: { 'x-request-id': 'mine', 'request-id': 'mine' },
    });
    assert.ok(isId('req', String(headers['x-request-id'])), url);
    ids.add(headers['x-request-id']);
  }
  assert.equal(ids.size, 6);
});

test('a body that names a member twice is a bad request, instead of mail of the last', async () => {
  assertProblem(await post('{"name":"a","name":"b"}'), {
    ...{ status: 400, type: 'validation_error' },
    message: /^The body must not name `name` twice in one object$/,
  });
});

test('a body that is not UTF-8 is a bad request, instead of mail with replacement characters', async () => {
  const answer = await send({
    method: 'POST',
    url: '/things',
    headers: JSON_TYPE,
    payload: Buffer.from('{"name":"caf\xe9"}', 'latin1'),
  });
  assertProblem(answer, { status: 400, type: 'validation_error', message: /UTF-8/ });
  assert.equal((await post('{"name":"café"}')).body.got.name, 'café');
});

/** The answer to bytes on a real connection. */
async function exchange(bytes: string, given?: FastifyInstance): Promise<string> {
  const listening = given ?? (await serve()).server;
  await listening.listen({ host: '127.0.0.1', port: 0 });
  const address = listening.server.address();
  const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.end(bytes);
  await once(socket, 'close');
  await listening.close();
  return Buffer.concat(parts).toString();
}

test('a request that never comes to its end is told so, and may be sent again', async () => {
  const { server: listening } = await serve();
  // Node asks its connections how old they are every half minute, by its own clock.
  listening.server.once('connection', (socket) => {
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    listening.server.emit('clientError', late, socket);
  });
  const [head = '', body = ''] = (await exchange('GET /things HTTP/1.1\r\n', listening)).split('\r\n\r\n');
  assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  assert.match(JSON.parse(body).error.message, /too long/);
  assert.equal(JSON.parse(body).error.type, 'request_timeout');
});

test('the OpenAPI document is made of the schemas that check', () => {
  const document = server.openApi() as unknown as Record<string, Record<string, never>>;
  assert.equal(document['openapi'], '3.1.0');
  assert.deepEqual(document['info'], { title: 'Test', description: 'Routes of a test', version: '1.2.3' });
  assert.deepEqual(Object.keys(document['paths'] ?? {}).sort(), [
    '/broken',
    '/full',
    '/odd',
    '/refused',
    '/things',
    '/things/{id}',
    '/things/{id}/send',
  ]);
});
