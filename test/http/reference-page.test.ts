import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveReferencePage } from '../../src/http/reference-page.ts';
import { serve } from './serve.ts';

const { server } = await serve({}, (one) => serveReferencePage(one, 'Test API'));

async function get(url: string) {
  const { statusCode, headers, body } = await server.inject({ url });
  return { status: statusCode, headers, body };
}

test('the page and everything it names are served, as what they are', async () => {
  const page = await get('/docs');
  assert.equal(page.status, 200);
  assert.match(page.body, /<title>Test API<\/title>/);
  const names = [...page.body.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name = '']) => name);
  assert.equal(names.length, 4);
  for (const name of names) {
    const { status, headers, body } = await get(`/${name}`);
    assert.equal(status, 200, name);
    assert.notEqual(body, '');
    const type = name.endsWith('.css') ? 'text/css' : name.endsWith('.js') ? 'text/javascript' : 'image/png';
    assert.ok(String(headers['content-type']).startsWith(type), name);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  }
});

test('the page asks nothing of any other host, and its policy forbids it', async () => {
  const page = await get('/docs');
  const start = await get('/docs/start.js');
  for (const text of [page.body, start.body]) assert.doesNotMatch(text, /\/\//);
  assert.match(start.body, /url: 'v1\/openapi\.json'/);
  assert.match(start.body, /validatorUrl: null/);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /^default-src 'none'; /);
  assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|upgrade-insecure-requests/);
  assert.match(policy, /script-src 'self';/);
});

test('nothing else of the disk is served', async () => {
  for (const url of ['/docs/', '/docs/..%2fpackage.json', '/docs/index.html', '/docs/../package.json']) {
    assert.equal((await get(url)).status, 404, url);
  }
});

test('the page is no operation of the document', () => {
  assert.deepEqual(
    Object.keys(server.openApi().paths).filter((path) => path.startsWith('/docs')),
    [],
  );
});
