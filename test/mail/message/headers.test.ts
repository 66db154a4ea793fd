import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMailbox } from '../../../src/mail/address.ts';
import {
  addressField,
  dateField,
  formatDate,
  isFieldName,
  isFieldText,
  parameterField,
  structuredField,
  textField,
} from '../../../src/mail/message/headers.ts';
import { anyCharacter } from '../../support/any-character.ts';

test('lines are folded at 76 characters before white space, and unfold to what was there', () => {
  const text = Array.from({ length: 60 }, (_, index) => `word${index}${'  '.repeat(index % 2)}`)
    .join(' ')
    .trim();
  const field = textField('Subject', text);
  const lines = field.split('\r\n');
  assert.equal(lines.pop(), '');
  assert.ok(lines.length > 4);
  for (const line of lines) assert.ok(line.length <= 76, line);
  for (const line of lines) assert.match(line, /\S/);
  assert.equal(lines.join(''), `Subject: ${text}`);
});

test('a field never holds a line over 998 octets, whatever its text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter, maxLength: 3000 }),
      fc.integer({ min: 0, max: 5000 }),
      (text, run) => {
        const clean = `${text}${'x'.repeat(run)}`.replace(/[\r\n\0]/g, '');
        const field = textField('Subject', clean);
        assert.match(field, /^Subject: [^\r\n]*(?:\r\n [^\r\n]*[^\s][^\r\n]*)*\r\n$/);
        assert.match(field, /^[\t\r\n -~]*$/);
        for (const line of field.split('\r\n')) assert.ok(line.length <= 998);
        if (field.includes('=?')) for (const line of field.split('\r\n')) assert.ok(line.length <= 76, line);
      },
    ),
    { numRuns: 50 },
  );
});

test('text that looks encoded, or that a reader would trim, is encoded', () => {
  for (const text of ['=?utf-8?Q?x?=', ' leading', 'trailing ', 'tab\there', 'naïve', ' ']) {
    assert.match(textField('Subject', text), /^Subject: =\?UTF-8\?[QB]\?[^ ]*\?=\r\n$/, text);
  }
  assert.equal(textField('Subject', 'plain'), 'Subject: plain\r\n');
  assert.equal(textField('Subject', ''), 'Subject: \r\n');
});

test('text that would end a field early is refused', () => {
  for (const text of ['a\r\nBcc: e@evil.example', 'a\n', 'a\r', 'a\0']) {
    assert.throws(() => textField('Subject', text), RangeError);
    assert.throws(() => structuredField('X-Id', text), RangeError);
    assert.equal(isFieldText(text), false);
    assert.equal(isFieldName(text), false);
  }
  for (const name of ['', 'a b', 'a:b', 'é', 'a\r\nb']) {
    assert.throws(() => structuredField(name, 'x'), RangeError);
    assert.throws(() => textField(name, 'x'), RangeError);
  }
  assert.throws(() => structuredField('X-Id', 'x'.repeat(1200)), RangeError);
  const name = 'a\r\nBcc: e@evil.example';
  const forged = { name, address: 'a@b.example', localPart: 'a', domain: 'b.example' };
  assert.doesNotMatch(addressField('To', [forged]), /\r\nBcc/);
  assert.throws(() => addressField('To', [{ ...forged, name: undefined, address: name }]), RangeError);
});

test('addresses are listed with commas, folded between them', () => {
  const mailboxes = Array.from({ length: 5 }, (_, index) =>
    parseMailbox(`Person ${index} <p${index}@example.com>`),
  );
  const field = addressField(
    'To',
    mailboxes.filter((mailbox) => mailbox !== undefined),
  );
  assert.equal(
    field,
    'To: Person 0 <p0@example.com>, Person 1 <p1@example.com>, Person 2\r\n' +
      ' <p2@example.com>, Person 3 <p3@example.com>, Person 4 <p4@example.com>\r\n',
  );
});

test('dates are those of RFC 5322, in UTC', () => {
  assert.equal(formatDate(0), 'Thu, 01 Jan 1970 00:00:00 +0000');
  assert.equal(formatDate(Date.UTC(2026, 1, 28, 23, 59, 59, 999)), 'Sat, 28 Feb 2026 23:59:59 +0000');
});

test('the date field is a line of its own', () => {
  assert.equal(dateField(0), 'Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n');
});

test('parameters stand on lines of their own and are not broken inside', () => {
  const long = `name="${'a b '.repeat(60)}"`;
  assert.equal(
    parameterField('Content-Type', ['text/plain', 'charset=utf-8', long]),
    `Content-Type: text/plain;\r\n charset=utf-8;\r\n ${long}\r\n`,
  );
  for (const part of ['a\r\nb', 'a\0', 'é', '\t', 'x'.repeat(900)]) {
    assert.throws(
      () => parameterField('Content-Type', ['text/plain', part]),
      RangeError,
      JSON.stringify(part),
    );
  }
  assert.throws(() => parameterField('a b', ['text/plain']), RangeError);
});
