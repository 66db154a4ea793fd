/** The client libraries that are small enough stay so. That of Node.js has limits of its own in its suite, for its code and for browsers. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MAX_INSTALLED_BYTES, phpSize, pythonSize } from './sizes.ts';

const PHP = new URL('../../sdk/php/', import.meta.url);

test('the libraries for Python and PHP are small when they are installed', () => {
  for (const { name, bytes } of [pythonSize(), phpSize()])
    assert.ok(bytes > 50_000 && bytes < MAX_INSTALLED_BYTES, `${name}: ${bytes} bytes`);
});

test('Composer installs no tests and no examples, and every path that it leaves out exists', () => {
  const lines = readFileSync(new URL('.gitattributes', PHP), 'utf8').trimEnd().split('\n');
  const left = lines.map((line) => /^\/(\S+) export-ignore$/.exec(line)?.[1] ?? line);
  assert.ok(left.includes('tests') && left.includes('examples') && !left.includes('src'));
  assert.deepEqual(
    left.filter((path) => !existsSync(new URL(path, PHP))),
    [],
  );
});
