import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { writeBodyStructure } from '../../../../src/mail/imap/encode/envelope.ts';
import type { TextForm } from '../../../../src/mail/imap/encode/strings.ts';
import { readMimeTree } from '../../../../src/mail/message/mime-tree.ts';
import { CORPUS } from '../../message/mime-corpus.ts';

function structure(
  text: string,
  item: 'BODY' | 'BODYSTRUCTURE' = 'BODYSTRUCTURE',
  form: TextForm = '7bit',
): string {
  return writeBodyStructure(readMimeTree(Buffer.from(text)), { item, text: form });
}

test('a body has a type, a charset and an encoding, which are never NIL', () => {
  const expected = '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 6 1';
  for (const header of [
    '',
    'Content-Type:\r\n',
    'Content-Transfer-Encoding: \r\n',
    'Content-Type: text/plain\r\n',
  ]) {
    assert.equal(structure(`${header}\r\nbody\r\n`, 'BODY'), `${expected})`);
    assert.equal(structure(`${header}\r\nbody\r\n`), `${expected} NIL NIL NIL NIL)`);
  }
});

test('empty parameters are NIL', () => {
  const image = 'Content-Type: image/gif;\r\nContent-Disposition: attachment;\r\n\r\n';
  assert.equal(structure(image), '("image" "gif" NIL NIL NIL "7bit" 0 NIL ("attachment" NIL) NIL NIL)');
});

test('all that is known of a part is in its structure', () => {
  const part = [
    'Content-Type: Application/PDF; name="a b.pdf"',
    'Content-ID: <id@x>',
    'Content-Description: a file',
    'Content-Transfer-Encoding: BASE64',
    'Content-MD5: Q2hlY2s=',
    'Content-Disposition: Inline; filename=a; size=3',
    'Content-Language: en, de (German)',
    'Content-Location: http://x/\r\n a',
    '',
    'YQ==',
  ].join('\r\n');
  assert.equal(
    structure(part),
    '("application" "pdf" ("name" "a b.pdf") "<id@x>" "a file" "base64" 4 "Q2hlY2s=" ("inline" ("filename" "a" "size" "3")) ("en" "de") "http://x/a")',
  );
});

test('parts and messages are nested', () => {
  assert.equal(
    structure(CORPUS['a digest'] ?? '', 'BODY'),
    '(("message" "rfc822" NIL NIL NIL "7bit" 21 (NIL "one" NIL NIL NIL NIL NIL NIL NIL NIL) ("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 5 0) 2)("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 6 0) "digest")',
  );
  assert.equal(
    structure(
      'Content-Type: multipart/mixed; boundary=b\r\nContent-Language: en\r\n\r\n--b\r\nContent-Type: a/b\r\n\r\n--b--',
    ),
    '(("a" "b" NIL NIL NIL "7bit" 0 NIL NIL NIL NIL) "mixed" ("boundary" "b") NIL ("en") NIL)',
  );
});

test('a message that is not taken apart is a file', () => {
  const encoded = 'Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==';
  assert.equal(structure(encoded, 'BODY'), '("application" "octet-stream" NIL NIL NIL "base64" 4)');
});

test('27: the structure has 7 bits unless the client reads UTF-8', () => {
  const raw =
    'Content-Type: a/b; name="é"\r\nContent-Disposition: attachment; filename*=iso-8859-1\'\'%e9\r\n\r\n';
  assert.equal(
    structure(raw),
    `("a" "b" ("name" "=?UTF-8?B?w6k=?=") NIL NIL "7bit" 0 NIL ("attachment" ("filename*" "utf-8''%C3%A9")) NIL NIL)`,
  );
  assert.equal(
    structure(raw, 'BODYSTRUCTURE', 'utf8'),
    '("a" "b" ("name" "é") NIL NIL "7bit" 0 NIL ("attachment" ("filename*" "é")) NIL NIL)',
  );
});

/** Reads a value of the grammar of RFC 9051 section 9 and returns the position after it. */
function skipValue(text: string, at: number): number {
  const plain = /(?:"(?:[^"\\\r\n]|\\["\\])*"|NIL|\d+)/y;
  plain.lastIndex = at;
  if (plain.test(text)) return plain.lastIndex;
  assert.equal(text[at], '(', text.slice(at));
  let next = at + 1;
  while (text[next] !== ')') {
    next = skipValue(text, next);
    // Only nested lists follow each other without a space.
    if (text[next] === ' ') next++;
    else assert.match(text.slice(next - 1, next + 1), /^.\)$|^\)\($/);
  }
  assert.notEqual(next, at + 1, 'a list is never empty');
  return next + 1;
}

const PIECES = [
  'Content-Type: multipart/mixed; boundary=a; x="\\"é"\r\n',
  'Content-Type: message/rfc822\r\n',
  "Content-Disposition: x; y*=utf-8''%00%0d%0a\r\n",
  'Content-Language: ,é,\r\n',
  'From: a: \0é@b, <c>\r\n',
  'Subject: \\"\r\n',
  ...['\r\n', '--a\r\n', '--a--\r\n', 'text'],
];

test('any structure is well formed and in one line, in 7 bits for clients that read no other', () => {
  const messages = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(messages, fc.constantFrom<TextForm>('7bit', 'utf8'), (message, form) => {
      for (const item of ['BODY', 'BODYSTRUCTURE'] as const) {
        const wire = structure(message, item, form);
        if (!/\{\d+\}\r\n/.test(wire)) assert.equal(skipValue(wire, 0), wire.length);
        if (form === '7bit') assert.doesNotMatch(wire, /[\u0080-\uffff]/);
      }
    }),
  );
});
