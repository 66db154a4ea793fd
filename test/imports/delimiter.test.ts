import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDelimiter } from '../../src/imports/delimiter.ts';

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
