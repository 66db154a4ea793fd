import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../../../src/mail/imap/command-error.ts';
import { Cursor } from '../../../../src/mail/imap/parser/cursor.ts';

const at = (text: string): Cursor => new Cursor(Buffer.from(text, 'latin1'));
const astring = (text: string): string => {
  const cursor = at(text);
  const value = cursor.astring();
  cursor.end();
  return value;
};

test('NIL, ~a, ] and } are atoms where a string may stand', () => {
  for (const text of ['NIL', '~a', ']', '}', 'a+b', '&AOk-', '$x', "it's", 'a]b}c'])
    assert.equal(astring(text), text);
});

test('quoted strings and literals of every form are read', () => {
  for (const [text, value] of [
    ['""', ''],
    ['"a b"', 'a b'],
    ['"a\\"b\\\\"', 'a"b\\'],
    ['"\xc3\xa9"', 'é'],
    ['{3}\r\na"b', 'a"b'],
    ['{0+}\r\n', ''],
    ['~{2+}\r\n\xc3\xa9', 'é'],
    ['{2}\nxy', 'xy'],
  ] as const)
    assert.equal(astring(text), value);
});

test('what is no string is refused', () => {
  for (const text of [
    '',
    '(',
    'a b',
    '"a',
    '"a\\b"',
    '"a\r\n"',
    '"\xff"',
    '"a\0"',
    '{3}\r\nab',
    '{9',
    '{-1}\r\n',
    'a\x7f',
    '\xe9',
  ])
    assert.throws(() => astring(text), CommandError, JSON.stringify(text));
  assert.throws(() => at('a]').atom() && at(']').atom(), CommandError);
});

test('numbers are bounded', () => {
  assert.equal(at('0').number(), 0);
  assert.equal(at('18446744073709551615').number(), Number.MAX_SAFE_INTEGER);
  assert.throws(() => at('9'.repeat(21)).number(), CommandError);
  assert.throws(() => at('0').positiveNumber(), CommandError);
});

test('a list has spaces between its items, and ends', () => {
  const list = (text: string) => {
    const cursor = at(text);
    return cursor.list(() => cursor.atom());
  };
  assert.deepEqual(list('()'), []);
  assert.deepEqual(list('(a b)'), ['a', 'b']);
  assert.deepEqual(list('(  )'), []);
  assert.deepEqual(list('(  a   b )'), ['a', 'b']);
  for (const text of ['(a', '(a b  ', '(a"b")', 'a']) assert.throws(() => list(text), CommandError, text);
});

test('a list that is too long is refused before the rest of it is read', () => {
  let read = 0;
  const cursor = at(`(a${' a'.repeat(10_000)})`);
  const list = () =>
    cursor.list(() => {
      read++;
      return cursor.atom();
    }, 100);
  assert.throws(list, { name: 'CommandError', code: 'LIMIT' });
  assert.equal(read, 100);
});

test('keywords of the protocol are read in any case, and nothing else is taken for them', () => {
  assert.ok(at('rEtUrN (').skip('RETURN '));
  for (const text of ['RETUR', 'RETURN', 'R\x05TURN ', '{ETURN ']) assert.ok(!at(text).skip('RETURN '), text);
});
