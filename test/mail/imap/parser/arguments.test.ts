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
import { parseSearch } from '../../../../src/mail/imap/parser/search.ts';
import { parseSearchKeys } from '../../../../src/mail/imap/parser/search-keys.ts';
import { parseSequenceSet } from '../../../../src/mail/imap/parser/sequence-set.ts';
import type { SearchKey } from '../../../../src/mail/imap/search-key.ts';
import { formatNumbers, LAST, resolveRanges } from '../../../../src/mail/imap/sequence-set.ts';

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

test('ranges are resolved with the last number: 9:1, and n:* beyond the end', () => {
  assert.deepEqual(resolveRanges([[9, 1]], 20), [[1, 9]]);
  assert.deepEqual(resolveRanges([[30, LAST]], 20), [[20, 30]]);
  assert.deepEqual(
    resolveRanges(
      [
        [5, 6],
        [1, 2],
        [3, 4],
        [9, 9],
        [LAST, LAST],
      ],
      12,
    ),
    [
      [1, 6],
      [9, 9],
      [12, 12],
    ],
  );
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

test('quirk 22: FETCH items keep their order, but UID comes first', () => {
  const kinds = (text: string) => read(parseFetchItems, text).map(({ kind }) => kind);
  assert.deepEqual(kinds('(BODY[] FLAGS UID)'), ['UID', 'SECTION', 'FLAGS']);
  assert.deepEqual(kinds('full'), ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY']);
  assert.deepEqual(kinds('(BODYSTRUCTURE BODY BINARY.SIZE[1] FLAGS FLAGS)'), [
    'BODYSTRUCTURE',
    'BODY',
    'BINARY.SIZE',
    'FLAGS',
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

test('search keys become a tree, with chains of OR as one list', () => {
  const flag = (name: string): SearchKey => ({ kind: 'flag', flag: name });
  const keys = (text: string) => read(parseSearchKeys, text);
  assert.deepEqual(keys('SEEN 1:3 UID 5'), [
    flag('\\Seen'),
    { kind: 'set', set: [[1, 3]], uid: false },
    { kind: 'set', set: [[5, 5]], uid: true },
  ]);
  assert.deepEqual(keys('NOT NOT SEEN'), [flag('\\Seen')]);
  assert.deepEqual(keys('OR SEEN OR DELETED DRAFT'), [
    { kind: 'or', keys: [flag('\\Deleted'), flag('\\Draft'), flag('\\Seen')] },
  ]);
  assert.deepEqual(keys('OR (SEEN (DELETED)) NOT (UNSEEN)'), [
    { kind: 'or', keys: [{ kind: 'and', keys: [flag('\\Seen'), flag('\\Deleted')] }, flag('\\Seen')] },
  ]);
  assert.deepEqual(keys('HEADER X-Y "" SENTON 1-Jan-2024 LARGER 5 MODSEQ "/flags/\\\\seen" all 7'), [
    { kind: 'header', field: 'x-y', text: '' },
    { kind: 'date', of: 'sent', comparison: 'on', day: '2024-01-01' },
    { kind: 'larger', sizeBytes: 5 },
    { kind: 'modseq', atLeast: 7 },
  ]);
  refuses(parseSearchKeys, [
    '',
    'FOO',
    'NOT',
    'OR SEEN',
    '(SEEN',
    'SEEN)',
    '()',
    'NOT ()',
    'FROM',
    'OR (SEEN) ',
    ') SEEN',
  ]);
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

test('SEARCH reads what to return and the charset', () => {
  const search = (text: string) => read(parseSearch, text);
  assert.equal(search(' ALL').esearch, undefined);
  assert.deepEqual(search(' RETURN () CHARSET "utf-8" ALL').esearch, {
    min: false,
    max: false,
    all: true,
    count: false,
    save: false,
  });
  assert.deepEqual(search(' RETURN (MIN COUNT SAVE) ALL').esearch, {
    min: true,
    max: false,
    all: false,
    count: true,
    save: true,
  });
  assert.throws(() => search(' CHARSET X-NONE ALL'), {
    status: 'NO',
    code: 'BADCHARSET (US-ASCII UTF-8 ISO-8859-1)',
  });
  assert.deepEqual(search(' RETURN (context update) ALL').esearch, {
    min: false,
    max: false,
    all: false,
    count: false,
    save: false,
    update: [],
  });
  assert.deepEqual(search(' RETURN (UPDATE (flags uid) COUNT) ALL').esearch, {
    min: false,
    max: false,
    all: false,
    count: true,
    save: false,
    update: [{ kind: 'UID' }, { kind: 'FLAGS' }],
  });
  refuses(parseSearch, [' RETURN (FOO) ALL', ' RETURN ALL', '', ' RETURN (UPDATE(UID)) ALL']);
});

test('LIST reads selection and return options, and RECURSIVEMATCH alone is BAD', () => {
  const list = (text: string) => read((cursor) => parseList(cursor, '7bit'), text);
  assert.equal(list(' "" ""').isRoot, true);
  assert.equal(list(' "" ("")').isRoot, false);
  assert.deepEqual(
    list(' (subscribed recursivematch) "" (Mail/% "a") return (status (messages unseen) special-use)').query,
    {
      response: 'LIST',
      patterns: ['Mail/%', 'a'],
      select: { subscribed: true, recursiveMatch: true, specialUse: false },
      return: { subscribed: true, children: false, specialUse: true, status: ['MESSAGES', 'UNSEEN'] },
    },
  );
  assert.deepEqual(list(' inbox/ %').query.patterns, ['INBOX/%']);
  refuses(
    (cursor) => parseList(cursor, '7bit'),
    [
      ` "" (${'a '.repeat(100)}a)`,
      ` "" (${`${'a'.repeat(1_000)} `.repeat(5).trim()})`,
      ' (RECURSIVEMATCH) "" *',
      ' (FOO) "" *',
      ' "" ()',
      ' "" * RETURN (FOO)',
      ' "" * (x)',
      ' ""',
    ],
  );
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
