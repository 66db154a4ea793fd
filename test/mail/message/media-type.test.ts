import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMediaType, writeParameter } from '../../../src/mail/message/media-type.ts';

test('a media type is its type, its subtype and its parameters', () => {
  assert.deepEqual(parseMediaType('Application/VND.oasis+xml'), {
    type: 'application',
    subtype: 'vnd.oasis+xml',
    parameters: [],
  });
  assert.deepEqual(parseMediaType('text/plain;charset=UTF-8 ; Format="a; \\"b\\\\"'), {
    type: 'text',
    subtype: 'plain',
    parameters: [
      { name: 'charset', value: 'UTF-8' },
      { name: 'format', value: 'a; "b\\' },
    ],
  });
});

test('anything looser is none', () => {
  const refused = [
    '',
    'text',
    'text/',
    '/plain',
    'text/plain/x',
    ' text/plain',
    'text/plain ',
    'text / plain',
    'text/plain;',
    'text/plain; ',
    'text/plain; a',
    'text/plain; a=',
    'text/plain; =b',
    'text/plain; a = b',
    'text/plain; a=b c',
    'text/plain; a=b; A=c',
    'text/plain; a="b',
    'text/plain; a="b"c',
    "text/plain; a*=utf-8''b",
    'text/plain; a*0=b',
    'text/plain (comment)',
    'text/plain, text/html',
    'text/plain\r\n',
    'text/plain; a="b\r\nc"',
    'text/plain; a="é"',
    'téxt/plain',
    '.x/plain',
    `${'t'.repeat(128)}/plain`,
    `text/plain; a=${'b'.repeat(300)}`,
  ];
  for (const text of refused) assert.equal(parseMediaType(text), undefined, JSON.stringify(text));
});

test('a parameter is read back as it was written', () => {
  const printable = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  });
  fc.assert(
    fc.property(printable, (value) => {
      const parameters = parseMediaType(`text/plain; a=x; ${writeParameter('b', value)}`)?.parameters;
      assert.deepEqual(parameters?.[1], { name: 'b', value });
    }),
  );
  assert.equal(writeParameter('a', 'token'), 'a=token');
  assert.equal(writeParameter('a', ''), 'a=""');
  for (const value of ['é', 'a\r\n', '\0']) assert.throws(() => writeParameter('a', value), RangeError);
});

test('a text of any length is refused by its length alone', () => {
  const parameters = '; a=b'.repeat(100_000).replace(/a/g, (_, at: number) => `a${at}`);
  assert.equal(parseMediaType(`text/plain${parameters}`), undefined);
  for (const unit of ['"', '\\', ' ', 'a', '/', '="', '\\"']) {
    for (const head of ['', 'text/', 'text/plain;', 'text/plain; a="']) {
      assert.equal(parseMediaType(head + unit.repeat(100_000)), undefined);
    }
  }
});
