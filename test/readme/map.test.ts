/** The map of the code, src/README.md, names only what is there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);
const MAP = readFileSync(fromRoot('src/README.md'), 'utf8');

/** Files are named without `.ts`; `test/` and `config/` stand beside `src/`, everything else in it. */
function exists(path: string): boolean {
  return [`src/${path}`, `src/${path}.ts`, path].some((candidate) => existsSync(fromRoot(candidate)));
}

test('every path on the map leads somewhere', () => {
  const paths = [...MAP.matchAll(/`((?:[a-z-]+\/)+[a-z0-9.-]*)`/g)].map(([, path = '']) => path);
  assert.ok(paths.length > 60);
  assert.deepEqual(
    paths.filter((path) => !exists(path)),
    [],
  );
});

test('every folder of the source is on the map', () => {
  const folders = readdirSync(fromRoot('src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  assert.ok(folders.length > 10);
  for (const { name } of folders) assert.match(MAP, new RegExp(`\\b${name}\\b`));
});
