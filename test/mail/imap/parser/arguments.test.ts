import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CommandError } from '../../../../src/mail/imap/command-error.ts';
import { labelOf } from '../../../../src/mail/imap/fetch-item.ts';
import { Cursor } from '../../../../src/mail/imap/parser/cursor.ts';
import { parseDateTime, parseDay } from '../../../../src/mail/imap/parser/dates.ts';
import { parseFetchItems } from '../../../../src/mail/imap/parser/fetch-items.ts';
import { parseFlagList, parseStoreFlags } from '../../../../src/mail/imap/parser/flags.ts';
import { parseList } from '../../../../src/mail/imap/parser/list.ts';
import { parseSearch, parseSort } from '../../../../src/mail/imap/parser/search.ts';
import { parseSearchKeys } from '../../../../src/mail/imap/parser/search-keys.ts';
import { parseSequenceSet } from '../../../../src/mail/imap/parser/sequence-set.ts';
import type { SearchKey } from '../../../../src/mail/imap/search-key.ts';
import { formatNumbers, LAST } from '../../../../src/mail/imap/sequence-set.ts';

/** Reads a whole text. */
function read<T>(parse: (cursor: Cursor) => T, text: string): T {
  const cursor = new Cursor(Buffer.from(text));
  const value = parse(cursor);
  cursor.end();
  return value;
}

function refuses(parse: (cursor: Cursor) => unknown, texts: readonly string[]): void {
  for (const text of texts) assert.throws(() => read(parse, text), CommandError, text);
}

test('sets keep their ranges as they were written', () => {
  assert.equal(read(parseSequenceSet, '$'), '$');
  assert.deepEqual(read(parseSequenceSet, '2,9:1,*,7:*'), [
    [2, 2],
    [9, 1],
    [LAST, LAST],
    [7, LAST],
  ]);
  refuses(parseSequenceSet, ['', '0', '01', '1,', ',1', '1:', '1:2:3', '$,1', '*:*:*', 'x']);
});

test('formatted numbers are read back as the same numbers', () => {
  assert.equal(formatNumbers([1, 2, 3, 7, 9, 10]), '1:3,7,9:10');
  assert.equal(formatNumbers([]), '');
  assert.equal(formatNumbers([5, 4, 6]), '5,4,6');
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (numbers) => {
      const set = read(parseSequenceSet, formatNumbers(numbers));
      assert.ok(set !== '$');
      const expanded = set.flatMap(([from, to]) =>
        Array.from({ length: to - from + 1 }, (_, index) => from + index),
      );
      assert.deepEqual(expanded, numbers);
    }),
  );
});

test('flags have one spelling, and \\Recent cannot be set', () => {
  assert.deepEqual(read(parseFlagList, '(\\sEEN $Junk \\Recent $junk a]'.replace(']', ')')), [
    '\\Seen',
    '$Junk',
    'a',
  ]);
  assert.deepEqual(read(parseStoreFlags, '\\Deleted x'), ['\\Deleted', 'x']);
  assert.deepEqual(read(parseStoreFlags, '()'), []);
  refuses(parseFlagList, ['(\\Foo)', '(\\)', '(a b', `(${'x'.repeat(256)})`, `(${'x '.repeat(200)}y)`]);
});

test('dates are days of the calendar', () => {
  assert.equal(read(parseDay, '1-Feb-2024'), '2024-02-01');
  assert.equal(read(parseDay, '"29-feb-2024"'), '2024-02-29');
  refuses(parseDay, ['29-Feb-2023', '0-Jan-2024', '1-Foo-2024', '1-Jan-24', '1-Jan-0099']);
  assert.deepEqual(read(parseDateTime, '" 1-Jan-2024 12:00:00 -0130"'), {
    atMs: Date.UTC(2024, 0, 1, 13, 30),
    zoneMinutes: -90,
  });
  assert.deepEqual(read(parseDateTime, '"01-Jan-2024 00:00:00 -0000"'), {
    atMs: Date.UTC(2024, 0, 1),
    zoneMinutes: 0,
  });
  refuses(parseDateTime, [
    '"1-Jan-2024"',
    '"01-Jan-2024 24:00:00 +0000"',
    '"01-Jan-2024 00:00:00 +2400"',
    '"01-Jan-2024 00:61:00 +0000"',
  ]);
});

test('sections keep what the client asked for as the name of the response', () => {
  const labels = (text: string) =>
    read(parseFetchItems, text).map((item) =>
      item.kind === 'SECTION' || item.kind === 'BINARY' ? labelOf(item) : item.kind,
    );
  for (const [asked, label] of [
    ['BODY[]', 'BODY[]'],
    ['body.peek[1.2.mime]<5.10>', 'BODY[1.2.MIME]<5>'],
    ['BODY[3.HEADER.FIELDS (Date "X Y")]'.replace('X Y', 'x-y'), 'BODY[3.HEADER.FIELDS (Date x-y)]'],
    ['BODY.PEEK[HEADER.FIELDS.NOT (a)]', 'BODY[HEADER.FIELDS.NOT (a)]'],
    ['BINARY.PEEK[1.1]<0.1>', 'BINARY[1.1]<0>'],
    ['RFC822.HEADER', 'RFC822.HEADER'],
  ] as const)
    assert.deepEqual(labels(asked), [label]);
  const [item] = read(parseFetchItems, 'BODY.PEEK[2.TEXT]<1.2>');
  assert.deepEqual(item, {
    kind: 'SECTION',
    label: 'BODY[2.TEXT]',
    section: { part: [2], text: 'TEXT', fields: [] },
    peek: true,
    partial: { offset: 1, count: 2 },
  });
  refuses(parseFetchItems, [
    '()',
    'FOO',
    'BODY[MIME]',
    'BODY[0]',
    'BODY[1.]',
    'BODY[HEADER.FIELDS ()]',
    'BODY[HEADER.FIELDS (a:b)]',
    'BODY[',
    'BODY[]<1>',
    'BINARY[TEXT]',
    `BODY[${'1.'.repeat(150)}1]`,
    `(${Array.from({ length: 600 }, (_, index) => `BODY[${index + 1}]`).join(' ')})`,
  ]);
});

test('chains of OR are one list, and what is repeated is left out', () => {
  const flag = (name: string): SearchKey => ({ kind: 'flag', flag: name });
  const keys = (text: string) => read(parseSearchKeys, text);
  assert.deepEqual(keys('NOT NOT SEEN'), [flag('\\Seen')]);
  assert.deepEqual(keys('OR SEEN OR DELETED DRAFT'), [
    { kind: 'or', keys: [flag('\\Deleted'), flag('\\Draft'), flag('\\Seen')] },
  ]);
  assert.deepEqual(keys('MODSEQ "/flags/\\\\seen" all 7'), [{ kind: 'modseq', atLeast: 7 }]);
  refuses(parseSearchKeys, ['', 'NOT', 'OR SEEN', '(SEEN', 'SEEN)', '()', 'NOT ()', 'OR (SEEN) ', ') SEEN']);
});

test('NEW means the same after it was part of another list', () => {
  const twice = [0, 1].map(() => read(parseSearchKeys, '(NEW SEEN DRAFT)'));
  assert.deepEqual(twice[0], twice[1]);
  const [key] = read(parseSearchKeys, 'NEW');
  assert.ok(key?.kind === 'and' && key.keys.length === 2);
});

test('hostile nesting of search keys is bounded, and long chains of OR are not', () => {
  const deep = (depth: number) => `${'('.repeat(depth)}SEEN${')'.repeat(depth)}`;
  assert.deepEqual(read(parseSearchKeys, deep(50)), [{ kind: 'flag', flag: '\\Seen' }]);
  refuses(parseSearchKeys, [deep(51), deep(20_000), '('.repeat(60_000), `${'NOT OR SEEN '.repeat(60)}SEEN`]);
  const [not] = read(parseSearchKeys, `${'NOT '.repeat(15_001)}SEEN`);
  assert.deepEqual(not, { kind: 'not', key: { kind: 'flag', flag: '\\Seen' } });
  for (const chain of [
    `${'OR SEEN '.repeat(20_000)}DRAFT`,
    `${'OR '.repeat(20_000)}SEEN${' DRAFT'.repeat(20_000)}`,
  ]) {
    const [or] = read(parseSearchKeys, chain);
    assert.ok(or?.kind === 'or' && or.keys.length === 20_001);
  }
});

test('a LIST has at most 100 patterns of 4,096 octets together', () => {
  refuses(
    (cursor) => parseList(cursor, '7bit'),
    [` "" (${'a '.repeat(100)}a)`, ` "" (${`${'a'.repeat(1_000)} `.repeat(5).trim()})`],
  );
});

test('a criterion of SORT counts once', () => {
  const repeated = `(${'DATE REVERSE DATE '.repeat(5_000)}SIZE)`;
  assert.deepEqual(read(parseSort, ` ${repeated} UTF-8 ALL`).criteria, [
    { key: 'date', reverse: false },
    { key: 'size', reverse: false },
  ]);
});

test('whatever stands in a command, a parser returns or refuses', () => {
  const token = fc.constantFrom(
    '(',
    ')',
    ' ',
    'NOT ',
    'OR ',
    'SEEN',
    '"',
    '\\',
    '{3}\r\nabc',
    '1:*',
    '$',
    'BODY[',
    ']',
    '<',
    'HEADER.FIELDS ',
    'x',
    '\0',
    'é',
  );
  const parsers = [
    parseSearchKeys,
    parseSearch,
    parseFetchItems,
    parseFlagList,
    parseStoreFlags,
    parseSequenceSet,
    parseDay,
    parseDateTime,
    (cursor: Cursor) => parseList(cursor, '7bit'),
  ];
  fc.assert(
    fc.property(fc.array(token, { maxLength: 30 }), fc.constantFrom(...parsers), (tokens, parse) => {
      try {
        parse(new Cursor(Buffer.from(tokens.join(''))));
      } catch (error) {
        assert.ok(error instanceof CommandError, String(error));
      }
    }),
    { numRuns: 500 },
  );
});
