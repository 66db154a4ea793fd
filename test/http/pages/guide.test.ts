import assert from 'node:assert/strict';
import { globSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { documentationFolder } from '../../../src/data-files.ts';
import { serveGuide } from '../../../src/http/pages/guide.tsx';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { serve } from '../serve.ts';

const ORIGIN = 'http://host.test';

async function open(folder: string) {
  const { server } = await serve({}, (one) => serveGuide(one, 'Documentation', folder));
  return async (url: string) => {
    const { statusCode: status, headers, body } = await server.inject({ url });
    return { status, headers, body };
  };
}

/** Returns the paths that a page at `path` links to, on its own host. */
function linkedPaths(path: string, body: string): string[] {
  return [...body.matchAll(/href="([^"]+)"/g)]
    .map(([, href = '']) => new URL(href.replaceAll('&amp;', '&'), `${ORIGIN}${path}`))
    .filter(({ origin }) => origin === ORIGIN)
    .map(({ pathname, hash }) => `${pathname}${hash}`);
}

test('every page of the documentation is served, and its links lead to a heading of another', async () => {
  const get = await open(documentationFolder());
  const names = globSync('*.md', { cwd: documentationFolder() }).map((name) => basename(name, '.md'));
  const bodies = new Map<string, string>();
  for (const path of ['/docs/guide', ...names.map((name) => `/docs/guide/${name}`)]) {
    const { status, headers, body } = await get(path);
    assert.equal(status, 200, path);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    bodies.set(path, body);
  }
  assert.ok(bodies.size > 20);
  for (const [path, body] of bodies) {
    for (const linked of linkedPaths(path, body)) {
      const [target = '', anchor] = linked.split('#');
      if (target === '/docs' || target === '/docs/guide/style.css') continue;
      const found = bodies.get(target);
      assert.ok(found !== undefined, `${path} links to ${target}`);
      if (anchor !== undefined) assert.ok(found.includes(` id="${anchor}"`), `${path} links to ${linked}`);
    }
  }
  assert.equal((await get('/docs/guide/style.css')).headers['content-type'], 'text/css; charset=utf-8');
});

test('a page is rendered, with scripts forbidden, and links to the sources are text', async () => {
  const folder = temporaryDirectory('guide');
  writeFileSync(
    join(folder, 'a.md'),
    '# A <b>\n\n## Two `words`!\n\n[b](b.md#x) [code](../src/a.ts) [out](https://o.test/)\n',
  );
  const get = await open(folder);
  const { body, headers } = await get('/docs/guide/a');
  assert.match(body, /<h2 id="two-words">Two <code>words<\/code>!<\/h2>/);
  assert.match(body, /<a href="b#x">b<\/a> code <a href="https:\/\/o\.test\/">out<\/a>/);
  assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'self'; /);
  const { status } = await get('/docs/guide/a');
  assert.equal(status, 200);
});

test('the pictures of the documentation are served, and each page shows those that it names', async () => {
  const get = await open(documentationFolder());
  const pictures = globSync('images/*.png', { cwd: documentationFolder() });
  assert.equal(pictures.length, 4);
  const { body, headers } = await get('/docs/guide/dashboard');
  assert.match(String(headers['content-security-policy']), / img-src 'self'; /);
  const shown = [...body.matchAll(/<img src="([^"]+)" alt="[^"]{20,}"/g)].map(([, source]) => source);
  assert.deepEqual(shown.toSorted(), pictures.toSorted());
  for (const name of pictures) {
    const picture = await get(`/docs/guide/${name}`);
    assert.deepEqual([picture.status, picture.headers['content-type']], [200, 'image/png'], name);
    assert.ok(statSync(join(documentationFolder(), name)).size <= 150_000, `${name} is too large`);
  }
  assert.equal((await get('/docs/guide/images/other.png')).status, 404);
});

test('nothing but the pages of the folder is served', async () => {
  const folder = join(temporaryDirectory('guide'), 'docs');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.md'), '# A\n');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(folder, '../outside.md'), '# Outside\n');
  const get = await open(folder);
  for (const name of ['secret', 'secret.txt', 'a.md', '..%2foutside', '../outside', 'outside', 'A'])
    assert.equal((await get(`/docs/guide/${name}`)).status, 404, name);
});
