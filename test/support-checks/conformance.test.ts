/** Each way in which an answer may differ from the document is found; one that does not differ is let through. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { serve } from '../http/serve.ts';
import { conformanceOf, conforming, type Exchange } from '../support/conformance.ts';

const thing = Type.Object({ id: Type.String(), size: Type.Integer() }, { title: 'Thing' });
const headers = Type.Object({ 'idempotency-key': Type.Optional(Type.String()) });
const { server } = await serve({}, (one) => {
  one.get('/one/:id', { schema: { response: { 200: thing } } }, async () => ({}));
  one.get('/one/first', { schema: { response: { 204: Type.Null() } } }, async () => null);
  one.get('/one/lie', { schema: { response: { 200: thing } } }, async (_request, reply) =>
    reply.type('application/json').send('{"id":1,"size":1}'),
  );
  one.post('/one', { schema: { headers, response: { 201: thing } } }, async () => ({}));
});
const { check } = conformanceOf(server.openApi());

const ID = `req_${'0'.repeat(26)}`;
const JSON_TYPE = 'application/json; charset=utf-8';
const fine: Exchange = {
  method: 'GET',
  url: '/one/a?x=/other',
  status: 200,
  headers: { 'x-request-id': ID, 'content-type': JSON_TYPE },
  text: '{"id":"a","size":1}',
};
const problem = (type: string) => JSON.stringify({ error: { type, message: 'x', requestId: ID } });
const refused = (status: number, type: string, more: Record<string, string> = {}) => ({
  ...{ status, text: problem(type) },
  headers: { ...fine.headers, ...more },
});

test('answers that the document describes are accepted', () => {
  for (const change of [
    {},
    { method: 'HEAD', text: '' },
    { url: '/one/first', status: 204, text: '' },
    refused(404, 'not_found'),
    refused(429, 'rate_limited', { 'retry-after': '1', 'ratelimit-limit': '5' }),
    { method: 'PUT', ...refused(405, 'method_not_allowed') },
    { url: '/nothing', ...refused(404, 'not_found') },
    { url: '/nothing/%zz', ...refused(400, 'validation_error') },
    { url: '/healthz', headers: {}, text: 'ok' },
    {
      ...{ method: 'POST', url: '/one', status: 201 },
      headers: { ...fine.headers, 'idempotency-replayed': 'true' },
    },
  ]) {
    assert.doesNotThrow(() => check({ ...fine, ...change }));
  }
});

test('an answer that the document does not describe is found', () => {
  for (const [change, finding] of [
    [{ status: 202 }, /not documented/],
    [{ status: 409 }, /not documented/],
    [{ method: 'PUT' }, /not documented/],
    [{ url: '/nothing' }, /not documented/],
    [{ text: '{"id":"a"}' }, /required property 'size'/],
    [{ text: '{"id":"a","size":"1"}' }, /must be integer/],
    [{ text: '{"id":"a","size":1,"more":1}' }, /unevaluated/],
    [{ headers: { 'content-type': JSON_TYPE } }, /no X-Request-Id/],
    [{ headers: { ...fine.headers, 'content-type': 'text/html' } }, /type text\/html/],
    [{ headers: { ...fine.headers, 'idempotency-replayed': 'true' } }, /not documented/],
    [{ url: '/one/first', status: 204 }, /body where there is none/],
    [refused(404, 'invalid_state'), /allowed values/],
    [refused(429, 'rate_limited'), /Retry-After is missing/],
    [{ ...refused(404, 'not_found'), text: '{"error":"not_found"}' }, /must be object/],
  ] as const) {
    assert.throws(() => check({ ...fine, ...change }), finding, JSON.stringify(change));
  }
});

test('a server whose answers are checked gives out none that differs', async () => {
  const checked = conforming(server, conformanceOf(server.openApi()));
  await assert.rejects(checked.inject({ url: '/one/lie' }), /id must be string: GET \/one\/lie -> 200/);
  assert.equal((await checked.inject({ url: '/nothing' })).statusCode, 404);
});
