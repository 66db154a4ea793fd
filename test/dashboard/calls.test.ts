/** The dashboard as a client of the API: a call stays behind the prefix that its caller has. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Fastify from 'fastify';
import { callsOf, path } from '../../src/dashboard/calls.ts';
import { AppError } from '../../src/system/errors.ts';

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
