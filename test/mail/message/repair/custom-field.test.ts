import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeWords } from '../../../../src/mail/message/decode-words.ts';
import { customField, findFieldProblem } from '../../../../src/mail/message/repair/custom-field.ts';

const linesOf = (field: string) => field.trimEnd().split('\r\n');

test('a field of the caller in ASCII is folded, and keeps its words', () => {
  assert.equal(customField('X-A', '  a  b '), 'X-A: a  b\r\n');
  assert.equal(customField('X-A', '\ta\t b\t'), 'X-A: a  b\r\n');
  const wide = customField('X-A', `${'a'.repeat(70)}${'\t '.repeat(200)}b`);
  for (const line of linesOf(wide)) assert.match(line, /[ab]/);
  assert.equal(
    customField('X-A', `${'a'.repeat(70)} ${'b'.repeat(20)}`),
    `X-A: ${'a'.repeat(70)}\r\n ${'b'.repeat(20)}\r\n`,
  );
  assert.equal(customField('N'.repeat(126), 'v'.repeat(870)).length, 998 + 2);
});

test('free text of the caller that is not ASCII, or too long for a line, becomes encoded-words', () => {
  assert.equal(customField('X-Note', 'Grüße'), 'X-Note: =?UTF-8?B?R3LDvMOfZQ==?=\r\n');
  const long = customField('X-Note', `a ${'x'.repeat(3_000)}`);
  assert.match(long, /^X-Note: a =\?UTF-8\?Q\?x+\?=\r\n =\?UTF-8/);
  for (const line of linesOf(long)) assert.ok(line.length <= 76, line);
});

test('long runs of spaces in a field of the caller are encoded in free text, and refused elsewhere, in linear time', () => {
  for (const value of [
    `a${' '.repeat(1_000)}b`,
    `a${' '.repeat(500)}${'b'.repeat(500)}`,
    `a${' '.repeat(100_000)}b`,
  ]) {
    const started = process.cpuUsage();
    const field = customField('X-Note', value);
    for (const line of linesOf(field)) assert.ok(line.length <= 998, `${line.length}`);
    assert.equal(decodeWords(field.slice('X-Note: '.length).trimEnd().replaceAll('\r\n', '')), value);
    assert.ok(findFieldProblem('List-Help', value));
    assert.ok(process.cpuUsage(started).user < 2_000_000);
  }
});

test('References of the caller are folded between message ids, also where no space separates them', () => {
  const ids = Array.from({ length: 60 }, (_, index) => `<id-${index}@mail.example.com>`);
  for (const separator of [' ', '']) {
    const field = customField('References', ids.join(separator));
    for (const line of linesOf(field)) assert.ok(line.length <= 76, line);
    assert.deepEqual(field.match(/<[^<>]+>/g), ids);
    assert.ok(
      linesOf(field)
        .slice(1)
        .every((line) => line.startsWith(' <')),
    );
  }
});

test('a name beside an address of the caller is encoded, and the address stays', () => {
  assert.equal(
    customField('Disposition-Notification-To', '"Müller, Jörg" <joerg@example.com>'),
    'Disposition-Notification-To: =?UTF-8?B?TcO8bGxlciwgSsO2cmc=?=\r\n <joerg@example.com>\r\n',
  );
});

test('a field that cannot be written in ASCII or in short lines is refused', () => {
  for (const value of ['a\r\n b', 'a\r\n', '\na', '\0', '\u007f', 'a\u2028b', '\ud800'])
    assert.throws(() => customField('X-A', value), RangeError, JSON.stringify(value));
  for (const [name, value] of [
    ['References', '<grüße@example.com>'],
    ['References', `<${'x'.repeat(998)}@example.com>`],
    ['List-Unsubscribe', `<https://example.com/${'x'.repeat(998)}>`],
    ['X A', 'a'],
    ['X A', 'ä'],
  ] as const)
    assert.throws(() => customField(name, value), RangeError, name);
});
