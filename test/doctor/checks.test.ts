import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHECKS } from '../../src/doctor/checks.ts';
import { readPage, readTable } from '../readme/page.ts';

test('the documentation lists every check, in the order in which findings are shown', () => {
  const documented = readTable(readPage('docs/operations.md').text, 'Checks').map(([, name]) => name);
  assert.deepEqual(
    documented,
    CHECKS.map(({ name }) => `\`${name}\``),
  );
});
