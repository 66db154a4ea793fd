import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveReferencePage } from '../../../src/http/pages/reference-page.tsx';
import { serve } from '../serve.ts';

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

test('no file beside those of the reference page is served', async () => {
  for (const url of ['/docs/..%2fpackage.json', '/docs/index.html', '/docs/../package.json']) {
    assert.equal((await get(url)).status, 404, url);
  }
});

test('the reference page is found from the root and with a trailing slash, also below the path of a proxy', async () => {
  for (const [url, status] of [
    ['/', 302],
    ['/docs/', 308],
  ] as const) {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await server.inject({ method, url });
      assert.equal(statusCode, status, url);
      for (const prefix of ['', '/mail'])
        assert.equal(new URL(String(headers.location), `http://a${prefix}${url}`).pathname, `${prefix}/docs`);
    }
    for (const method of ['POST', 'PUT', 'DELETE'] as const)
      assert.equal((await server.inject({ method, url })).statusCode, 405, `${method} ${url}`);
  }
});

test('the page is no operation of the document', () => {
  assert.deepEqual(
    Object.keys(server.openApi().paths).filter((path) => path === '/' || path.startsWith('/docs')),
    [],
  );
});

test('a file is read from the disk once, however many ask for it, and again after a failure', async () => {
  const reads: string[] = [];
  let disk = (): Promise<Buffer> => Promise.reject(new Error('no file descriptor is left'));
  const { server: own } = await serve({}, (one) =>
    serveReferencePage(one, 'Test API', (path) => {
      reads.push(path.slice(path.lastIndexOf('/') + 1));
      return disk();
    }),
  );
  const url = '/docs/swagger-ui.css';
  assert.equal((await own.inject({ url })).statusCode, 500);
  disk = async () => Buffer.from('body {}');
  const answers = await Promise.all(Array.from({ length: 20 }, () => own.inject({ url })));
  assert.ok(answers.every(({ statusCode, body }) => statusCode === 200 && body === 'body {}'));
  assert.deepEqual(reads, ['swagger-ui.css', 'swagger-ui.css']);
});

test('a file has its length and a tag, and a caller who has it already is answered 304', async () => {
  const { headers, body } = await get('/docs/swagger-ui.css');
  assert.equal(Number(headers['content-length']), Buffer.byteLength(body));
  const again = await server.inject({
    url: '/docs/swagger-ui.css',
    headers: { 'if-none-match': String(headers.etag) },
  });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
});
