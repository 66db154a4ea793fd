import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { type Form, MAX_FIELDS } from '../../../src/http/pages/form-body.ts';
import { createPagesServer, MAX_FORM_BYTES } from '../../../src/http/pages/server.tsx';
import { createByteBudget } from '../../../src/system/guards/byte-budget.ts';
import type { Log } from '../../../src/system/log.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { serve } from '../serve.ts';

const clock = createFakeClock(0);
const errors: unknown[] = [];
const log = { error: (fields: unknown) => errors.push(fields) } as unknown as Log;
const bodies = createByteBudget({ largeBytes: 3 * MAX_FORM_BYTES, smallBytes: 0, share: 1 });
const pages = createPagesServer({ clock, log }, { bodies });
let api: FastifyInstance;

pages.post<{ Body?: Form }>('/form', { config: { maxFiles: 2 } }, async ({ body }) => ({
  values: body?.values('a') ?? null,
  files: body?.files.map(({ bytes, ...file }) => ({ ...file, text: bytes.toString() })) ?? null,
}));
pages.post('/plain', async () => ({ ok: true }));
pages.get('/broken', async () => {
  throw new TypeError('secret detail');
});

before(async () => {
  const hosted = [{ app: pages, serves: (host: string) => host === 'track.example' }];
  ({ server: api } = await serve({ clock, hosted }));
  await api.listen({ host: '127.0.0.1', port: 0 });
});
after(() => api.close());

async function ask(
  method: 'GET' | 'POST',
  url: string,
  options: { type?: string; body?: string | Buffer } = {},
) {
  const headers = options.type === undefined ? {} : { 'content-type': options.type };
  const response = await pages.inject({
    method,
    url,
    headers,
    ...(options.body !== undefined && { payload: options.body }),
  });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=xx';

function part(disposition: string, content: string): string {
  return `--xx\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
}

test('both kinds of form give the values of a field in their order', async () => {
  const multipart = `${part('name="a"', 'één')}${part('name="a"', '2')}${part('name="b"', '3')}--xx--\r\n`;
  for (const [type, body] of [
    [URLENCODED, 'a=%C3%A9%C3%A9n&a=2&b=3'],
    [MULTIPART, multipart],
    ['Multipart/Form-Data; charset=utf-8; boundary="xx"', multipart],
  ] as const) {
    const { status, text } = await ask('POST', '/form', { type, body });
    assert.equal(status, 200, text);
    assert.deepEqual(JSON.parse(text), { values: ['één', '2'], files: [] }, type);
  }
});

test('a form may hold as many files as its route says, and no route says so by default', async () => {
  const file = part('name="f"; filename="../a.txt"', 'content');
  const { text } = await ask('POST', '/form', { type: MULTIPART, body: `${file}--xx--\r\n` });
  const [found] = JSON.parse(text).files;
  assert.deepEqual([found.field, found.text], ['f', 'content']);
  const three = await ask('POST', '/form', { type: MULTIPART, body: `${file.repeat(3)}--xx--\r\n` });
  assert.equal(three.status, 400);
  assert.match(three.text, /more than 2 files/);
  const none = await ask('POST', '/plain', { type: MULTIPART, body: `${file}--xx--\r\n` });
  assert.match(none.text, /more than 0 files/);
});

test('too many fields, too large forms, and bodies that are no form are refused with a page', async () => {
  const many = Array.from({ length: MAX_FIELDS + 1 }, () => 'a=1').join('&');
  const parts = `${part('name="a"', '1').repeat(MAX_FIELDS + 3)}--xx--\r\n`;
  for (const [type, body, status] of [
    [URLENCODED, many, 400],
    [URLENCODED, Buffer.from([0x61, 0x3d, 0xff]), 400],
    [MULTIPART, parts, 400],
    [MULTIPART, 'no part at all', 400],
    [MULTIPART, part('name="a"', '1'), 400],
    ['multipart/form-data', part('name="a"', '1'), 400],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, 'x', 400],
    ['application/json', '{}', 415],
    [URLENCODED, Buffer.alloc(MAX_FORM_BYTES + 1, 'a'), 413],
  ] as const) {
    const answer = await ask('POST', '/form', { type, body });
    assert.equal(answer.status, status, `${type} ${body.slice(0, 20)}`);
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
  }
  assert.equal(bodies.usedBytes, 0);
});

test('an error is a page: unknown paths, wrong methods and bugs, without any detail of them', async () => {
  const unknown = await ask('GET', '/nothing"><script>alert(1)</script>');
  assert.equal(unknown.status, 404);
  assert.ok(unknown.text.startsWith('<!doctype html>'));
  assert.match(unknown.text, /<h1>Not Found<\/h1>/);
  assert.doesNotMatch(unknown.text, /<script/);
  assert.match(String(unknown.headers['content-security-policy']), /^default-src 'none'/);
  assert.match(unknown.text, new RegExp(String(unknown.headers['x-request-id'])));
  const method = await ask('GET', '/form');
  assert.deepEqual([method.status, method.headers.allow], [405, 'POST']);
  const broken = await ask('GET', '/broken');
  assert.equal(broken.status, 500);
  assert.doesNotMatch(broken.text, /secret/);
  assert.equal(errors.length, 1);
});

test('the host name of a request chooses the app, and each has its own memory', async () => {
  const address = api.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { request } = await import('undici');
  const get = async (host: string, path: string) => {
    const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}${path}`, {
      headers: { host },
    });
    return { status: statusCode, type: headers['content-type'], text: await body.text() };
  };
  for (const host of ['track.example', 'Track.Example:8080', 'track.example.']) {
    assert.equal((await get(host, '/things/1')).type, 'text/html; charset=utf-8', host);
  }
  assert.equal((await get('api.example', '/things/1')).status, 200);
  assert.match((await get('api.example', '/form')).text, /^\{"error"/);

  const flood = bodies.open('somebody');
  assert.equal(flood.take(3 * MAX_FORM_BYTES), true);
  assert.equal((await ask('POST', '/form', { type: URLENCODED, body: 'a=1' })).status, 503);
  const accepted = await api.inject({ method: 'POST', url: '/things', payload: { name: 'a' } });
  assert.equal(accepted.statusCode, 200);
  flood.release();
});
