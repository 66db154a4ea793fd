/** Checks that src/README.md, the map of the code, names only files and folders that exist, and is short. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
  assert.ok(paths.length > 60);
  assert.deepEqual(missing(paths), []);
});

test('the map is one page of at most 150 lines', () => {
  assert.ok(MAP.split('\n').length - 1 <= 150);
});

test('every folder of the source is on the map', () => {
  const folders = readdirSync(fromRoot('src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  assert.ok(folders.length > 10);
  for (const { name } of folders) assert.match(MAP, new RegExp(`\\b${name}\\b`));
});
