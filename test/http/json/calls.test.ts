/** A client of a server in this process: a call stays behind the prefix that its caller has. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Fastify from 'fastify';
import { callsOf, path } from '../../../src/http/json/calls.ts';
import { AppError } from '../../../src/system/errors.ts';

const server = Fastify();
server.get('/*', async ({ url }) => ({ url }));
server.post('/*', async (_request, reply) =>
  reply
    .code(503)
    .header('retry-after', 7)
    .send({ error: { type: 'unavailable', message: 'Busy' } }),
);
after(() => server.close());

const api = callsOf(() => server, { prefix: '/v1/mailboxes/mbx_own', clientAddress: '192.0.2.1' });

test('calls go to what lies behind the prefix', async () => {
  assert.deepEqual(await api.get(''), { url: '/v1/mailboxes/mbx_own' });
  assert.deepEqual(await api.get('/imports', { limit: 5 }), { url: '/v1/mailboxes/mbx_own/imports?limit=5' });
});

test('no path leads out of the prefix, in whatever encoding', async () => {
  const ways = [
    '/..',
    '/../mbx_other',
    '/%2e%2e/mbx_other',
    '/.%2E/mbx_other',
    '/imports/../../mbx_other',
    '/..\\mbx_other',
    '/.\t./mbx_other',
    '_other',
    '/../../../emails',
  ];
  for (const way of ways) {
    await assert.rejects(
      api.get(way),
      (refusal) => refusal instanceof AppError && refusal.code === 'not_found',
    );
  }
});

test('a value in a path adds no segment to it', async () => {
  const id = '../a/b?c#d%2F';
  assert.equal(path`/imports/${id}/errors`, '/imports/..%2Fa%2Fb%3Fc%23d%252F/errors');
  for (const dots of ['.', '..']) assert.throws(() => path`/imports/${dots}`, AppError);
});

test('a refusal keeps the time after which the caller may try again', async () => {
  await assert.rejects(
    api.post('/imports'),
    (refusal) =>
      refusal instanceof AppError &&
      refusal.code === 'unavailable' &&
      refusal.options.retryAfterSeconds === 7,
  );
});

test('a caller says the headers of every request, the key of each POST, and what marks the raw request', async () => {
  const seen: unknown[] = [];
  const echo = Fastify();
  after(() => echo.close());
  echo.all('/*', async ({ method, headers, raw }) => {
    seen.push([method, headers.authorization, headers['idempotency-key'], marked.has(raw)]);
    return {};
  });
  const marked = new WeakSet<object>();
  const calls = callsOf(() => echo, {
    prefix: '/v1',
    clientAddress: '192.0.2.1',
    headers: { authorization: 'Bearer key' },
    idempotencyKey: 'once',
    mark: (raw) => marked.add(raw),
  });

  await calls.get('/a');
  await calls.post('/a', {});
  (await calls.stream('/a')).bytes.resume();

  assert.deepEqual(seen, [
    ['GET', 'Bearer key', undefined, true],
    ['POST', 'Bearer key', 'once', true],
    ['GET', 'Bearer key', undefined, true],
  ]);
});
