import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { kyselyOn } from '../../src/db/dialect.ts';
import { foldCase, readDecimal } from '../../src/db/functions.ts';

const LAST_CODE_POINT = 0x10ffff;

test('ASCII folds as SQLite lower-cases it, and nothing beyond ASCII becomes or yields ASCII', () => {
  const lower = new Sqlite(':memory:').prepare<[string], string>('SELECT lower(?)').pluck();
  for (let code = 1; code <= LAST_CODE_POINT; code++) {
    const character = String.fromCodePoint(code);
    const folded = foldCase(character);
    if (code < 0x80) assert.equal(folded, lower.get(character));
    else assert.match(folded, /^[^\0-\x7f]+$/, code.toString(16));
  }
});

test('a letter folds the same whatever stands beside it', () => {
  for (const text of ['ΟΔΟΣ', 'ΟΔΟΣ Α', 'ΣΣ', 'Straße', 'İK', 'ÄÖÜ']) {
    assert.equal(foldCase(text), [...text].map(foldCase).join(''));
    assert.equal(foldCase(foldCase(text)), foldCase(text));
  }
  assert.equal(foldCase('ὈΔΥΣΣΕΎΣ'), foldCase('ὀδυσσεύς'));
});

const DECIMALS: [text: string, number: number | undefined][] = [
  ['0', 0],
  ['-0', 0],
  ['12', 12],
  ['-12.50', -12.5],
  ['0.1', 0.1],
  ['123456789012345', 123456789012345],
  ['-1234567890.12345', -1234567890.12345],
  ['1234567890123456', undefined],
  ['0.123456789012345', undefined],
  ...[
    '',
    '-',
    '.',
    '1.',
    '.5',
    '+1',
    '1e3',
    '007',
    '-01',
    ' 1',
    '1 ',
    '1,5',
    '1.2.3',
    '١',
    'Infinity',
    'NaN',
  ].map((text): [string, undefined] => [text, undefined]),
];

test('a plain decimal number is told from codes and other spellings', () => {
  for (const [text, number] of DECIMALS) assert.equal(readDecimal(text), number, text);
});

test('SQL asks the same functions, and gets null for what is no text or has no answer', () => {
  const database = new Sqlite(':memory:');
  kyselyOn(database);
  const ask = (expression: string) => database.prepare(`SELECT ${expression} AS it`).pluck().get();
  assert.equal(ask("fold_case('ÄB')"), 'äb');
  assert.equal(ask("plain_decimal('1.5')"), 1.5);
  assert.equal(ask("plain_decimal('1e3')"), null);
  assert.equal(ask("timestamp_ms('1970-01-01T00:00:01Z')"), 1_000);
  assert.equal(ask("timestamp_ms('1970-02-30T00:00:01Z')"), null);
  for (const name of ['fold_case', 'plain_decimal', 'timestamp_ms']) {
    for (const value of ['1', '1.5', 'NULL', "x'41'"]) assert.equal(ask(`${name}(${value})`), null);
  }
});
