import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDelimiter, findSeparatorLine } from '../../src/imports/delimiter.ts';

const find = (text: string, isWhole = true) => findDelimiter(Buffer.from(text), isWhole);

test('the delimiter is the one that the heading line uses most', () => {
  assert.equal(find('email,name\n'), ',');
  assert.equal(find('email;name\na,b,c,d;e\n'), ';');
  assert.equal(find('email\tname,nick\tplan\r\n'), '\t');
  assert.equal(find('email\n'), ',');
  assert.equal(find(''), ',');
});

test('delimiters inside quotes do not count, and empty lines before the heading are skipped', () => {
  assert.equal(find('"a,b,c\n,,";name\n'), ';');
  assert.equal(find('\r\n\n\remail;name\n'), ';');
});

test('the delimiter is unknown as long as the heading line goes on', () => {
  assert.equal(find('email;name', false), undefined);
  assert.equal(find('\n', false), undefined);
  assert.equal(find('email;"na\nme', false), undefined);
  assert.equal(find('email;name\r', false), ';');
});

test('the line of Excel for the separator is known, and nothing else is taken for it', () => {
  for (const [file, delimiter, bytes] of [
    ['sep=;\r\nemail', ';', 7],
    ['SEP=,\nemail', ',', 6],
    ['"sep=\t"\remail', '\t', 8],
    ['sep=|\r\n', '|', 7],
  ] as const) {
    assert.deepEqual(findSeparatorLine(Buffer.from(file)), { delimiter, bytes });
  }
  for (const file of ['', 'sep=', 'sep=;', 'sep=;x\n', 'sep=a\n', 'email\nsep=;\n', 'separator=;\n'])
    assert.equal(findSeparatorLine(Buffer.from(file)), undefined, file);
});
