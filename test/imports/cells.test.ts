import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  guardText,
  guardValue,
  readTextCell,
  readValueCell,
  readYesNoCell,
  trimText,
} from '../../src/imports/cells.ts';

test('a cell that begins like a formula has an apostrophe before it, and a plain number has none', () => {
  for (const text of ['=1+1', '+SUM(A1)', '-1+1', '@SUM(A1)', '\tx', '\rx', '\nx', '+1 555 0100', '-', '=']) {
    assert.equal(guardText(text), `'${text}`);
  }
  for (const text of ['-5', '+5', '-5.25', 'a=b', 'ada@example.com', ' =1'])
    assert.equal(guardText(text), text);
});

test('the apostrophe of others stays', () => {
  assert.equal(readTextCell("'hello"), "'hello");
  assert.equal(readTextCell("'tis"), "'tis");
  assert.equal(readTextCell("'=1"), '=1');
});

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '1', 'true', 'false') }),
  fc.constantFrom('', 'true', "'true", "''false", '-5', "'-5", "'"),
);

test('any text comes back as it was', () => {
  fc.assert(fc.property(text, (given) => assert.equal(readTextCell(guardText(given)), given)));
});

test('any text or boolean comes back as it was, and of its kind', () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.boolean()), (given) =>
      assert.equal(readValueCell(guardValue(given)), given),
    ),
  );
});

test('no text is written so that a spreadsheet would compute it', () => {
  fc.assert(
    fc.property(text, (given) => {
      const cell = guardText(given);
      assert.ok(!/^[=+\-@\t\r\n]/.test(cell) || /^[+-]\d+(\.\d+)?$/.test(cell), cell);
    }),
  );
});

test('an empty cell says nothing', () => {
  assert.equal(readTextCell(''), undefined);
  assert.equal(readValueCell(''), undefined);
  assert.equal(readYesNoCell('unsubscribed', ' '), undefined);
});

test('a text loses the blanks at its ends, those without width too, and no other character', () => {
  const blank = fc.string({
    unit: fc.constantFrom(' ', '\t', '\u00a0', '\ufeff', '\u200b', '\u3000', '\u2060'),
  });
  const inner = fc.constantFrom('', 'a', 'a \u200b b', "'", '=1', 'é', '😀', '.');
  fc.assert(
    fc.property(blank, inner, blank, (before, text, after) =>
      assert.equal(trimText(`${before}${text}${after}`), text),
    ),
  );
});

test('yes and no are read in the words of products and spreadsheets, and in no other', () => {
  for (const word of ['true', 'YES', ' 1 ', 'WAHR', 'Sí', 'да'])
    assert.equal(readYesNoCell('unsubscribed', word), true);
  for (const word of ['false', 'No', '0', 'FAUX', 'não'])
    assert.equal(readYesNoCell('unsubscribed', word), false);
  for (const word of ['maybe', 'constructor', '2']) {
    assert.throws(() => readYesNoCell('unsubscribed', word), /`unsubscribed` must be true/);
  }
});
