import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvAnswer, csvBody, MAX_CSV_BODY_BYTES } from '../../../src/http/json/csv-body.ts';
import { createByteBudget } from '../../../src/system/guards/byte-budget.ts';
import { serve } from '../serve.ts';

const FILE = 'email,name\r\na@b.example,Jos\xe9\r\n';

function serveFiles(options: Parameters<typeof serve>[0] = {}) {
  return serve(options, (server) => {
    const schema = { body: csvBody('A file', 'email\r\n'), response: { 200: csvAnswer('It', 'a\r\n') } };
    const config = { takesCsv: true };
    server.post('/files', { bodyLimit: MAX_CSV_BODY_BYTES, config, schema }, async (request, reply) => {
      const { body } = request;
      assert.ok(Buffer.isBuffer(body));
      return reply.type('text/csv').send(body);
    });
  });
}

const csv = { 'content-type': 'text/csv' };

test('a file is taken as the bytes it is, whatever they are', async () => {
  const { server } = await serveFiles();
  for (const type of ['text/csv', 'text/csv; charset=utf-8', 'Text/CSV;header=present']) {
    const payload = Buffer.from(FILE, 'latin1');
    const answer = await server.inject({
      ...{ method: 'POST', url: '/files', headers: { 'content-type': type }, payload },
    });
    assert.equal(answer.statusCode, 200, type);
    assert.deepEqual(answer.rawPayload, payload);
  }
});

test('a body of another type is refused, and so is a CSV file on any other route', async () => {
  const { send } = await serveFiles();
  for (const [url, type, wanted] of [
    ['/files', 'application/json', 'text/csv'],
    ['/files', 'text/csvx', 'text/csv'],
    ['/files', 'text/plain', 'text/csv'],
    ['/things', 'text/csv', 'application/json'],
  ] as const) {
    const { status, body } = await send({
      ...{ method: 'POST', url, headers: { 'content-type': type }, payload: '{"name":"x"}' },
    });
    assert.deepEqual([status, body.error?.type], [415, 'unsupported_media_type'], `${url} ${type}`);
    assert.equal(body.error?.message, `The body must be sent as ${wanted}`);
  }
});

test('a CSV file has a maximum size, and counts to the budget of all bodies', async () => {
  const { send } = await serveFiles({ bodies: createByteBudget({ largeBytes: 2_000, smallBytes: 0 }) });
  const file = { method: 'POST', url: '/files', headers: csv } as const;
  const declared = { ...csv, 'content-length': String(MAX_CSV_BODY_BYTES + 1) };
  const tooLarge = await send({ ...file, headers: declared, payload: FILE });
  assert.deepEqual([tooLarge.status, tooLarge.body.error?.type], [413, 'payload_too_large']);
  const budgetExhausted = await send({ ...file, payload: 'x'.repeat(1_001) });
  assert.deepEqual([budgetExhausted.status, budgetExhausted.body.error?.type], [503, 'unavailable']);
});
