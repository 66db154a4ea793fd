import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatList, formatTable } from '../../src/cli/table.ts';

test('columns are as wide as their widest cell, and lines have no trailing spaces', () => {
  const table = formatTable(
    ['id', 'name'],
    [
      ['1', 'long name'],
      ['1000', ''],
    ],
  );
  assert.equal(table, 'ID    NAME\n1     long name\n1000');
});

test('an empty list is shown as a sentence', () => {
  assert.equal(formatList(['id'], [], 'Nothing yet.'), 'Nothing yet.');
});
