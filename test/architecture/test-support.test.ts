/** Checks the comments of the helpers that many tests share. Readers meet them one by one and out of order, as in src/. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { danglingComments, undocumentedFunctions } from './rules.ts';
import { readSources } from './source.ts';

const sources = readSources(fileURLToPath(new URL('../support', import.meta.url)));

test('every comment of test/support can be read alone', () => {
  assert.ok(sources.length > 20);
  assert.deepEqual(danglingComments(sources), []);
});

test('every function that test/support exports has a docstring', () => {
  assert.deepEqual(undocumentedFunctions(sources), []);
});

test('every file of test/support begins with a comment that says what it does', () => {
  const withoutHeader = sources.filter(({ text }) => !text.startsWith('/**')).map(({ path }) => path);
  assert.deepEqual(withoutHeader, []);
});
