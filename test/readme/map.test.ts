/** Checks that src/README.md, the map of the code, names only files and folders that exist, and is short. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findBlocks } from './page.ts';

const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);
const MAP = readFileSync(fromRoot('src/README.md'), 'utf8');

/** Files are named without `.ts` or `.tsx`. Paths start in `src/`, except those of folders beside it, such as `test/`. */
function exists(path: string): boolean {
  const candidates = [`src/${path}`, `src/${path}.ts`, `src/${path}.tsx`, path];
  return candidates.some((candidate) => existsSync(fromRoot(candidate)));
}

const missing = (paths: readonly string[]) => paths.filter((path) => !exists(path));

test('every path in the text of the map exists', () => {
  const paths = [...MAP.matchAll(/`((?:[a-z-]+\/)+[a-z0-9.-]*)`/g)].map(([, path = '']) => path);
  assert.ok(paths.length > 30);
  assert.deepEqual(missing(paths), []);
});

test('every path in the pictures of the map exists', () => {
  const pictures = findBlocks(MAP).map(({ text }) => text);
  const paths = pictures.join('\n').match(/(?<![\w…/-])[a-z-]*[a-z](?:\/[a-z0-9-]+)+(?:\.md)?/g) ?? [];
  assert.ok(paths.length > 25);
  assert.deepEqual(missing(paths), []);
});

test('the map is a page that can be read: at most 80 lines, 900 words, and 160 characters a line', () => {
  const lines = MAP.split('\n');
  assert.ok(lines.length - 1 <= 80);
  assert.ok(MAP.split(/\s+/).length <= 900);
  assert.deepEqual(
    lines.filter((line) => line.length > 160),
    [],
  );
});

test('every path in the README of a room exists, in the room or in the source', () => {
  const rooms = globSync('src/*/README.md', { cwd: fromRoot('.') }).filter(
    (page) => page !== 'src/mail/README.md',
  );
  assert.ok(rooms.length > 0);
  for (const page of rooms) {
    const room = page.slice('src/'.length, -'README.md'.length);
    const text = readFileSync(fromRoot(page), 'utf8');
    const paths = [...text.matchAll(/`((?:[a-z-]+\/)+[a-z0-9.-]*)`/g)].map(([, path = '']) => path);
    assert.deepEqual(
      paths.filter((path) => !exists(path) && !exists(`${room}${path}`)),
      [],
      page,
    );
  }
});

test('every folder of the source is on the map', () => {
  const folders = readdirSync(fromRoot('src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  assert.ok(folders.length > 10);
  for (const { name } of folders) assert.match(MAP, new RegExp(`\\b${name}\\b`));
});
