import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readParameterField, readToken } from '../../../src/mail/message/mime-fields.ts';

/** Returns the value and the parameters as text, with `*` at the name of an extended one. */
function read(text: string): string[] {
  const field = readParameterField(text);
  if (!field) return [];
  return [
    field.value,
    ...field.parameters.map(({ name, value, isExtended }) => `${name}${isExtended ? '*' : ''}=${value}`),
  ];
}

test('values, parameters, quotes and comments are read', () => {
  for (const [text, ...expected] of [
    ['Text/Plain', 'text/plain'],
    ['text/plain; charset=us-ascii (Plain text)', 'text/plain', 'charset=us-ascii'],
    ['text/plain; CharSet="us-ascii"', 'text/plain', 'charset=us-ascii'],
    ['(a (nested) one) text/plain (b) ; (c) a (d) = (e) b ;c=d', 'text/plain', 'a=b', 'c=d'],
    ['attachment; filename="a;b\\"c\\\\.txt"', 'attachment', 'filename=a;b"c\\.txt'],
    ['attachment; filename=My File (1).pdf; size=3', 'attachment', 'filename=My File (1).pdf', 'size=3'],
    ['a/b; c=d (x;y) z; e=f', 'a/b', 'c=d (x;y) z', 'e=f'],
    ['attachment;;; a=1; ;b', 'attachment', 'a=1'],
    ['a/b; c="unclosed', 'a/b', 'c=unclosed'],
    ['a/b; c=""; d=', 'a/b', 'c=', 'd='],
    ['a/b; (unclosed c=d', 'a/b'],
    ['a/b c=d; e=f', 'a/b', 'e=f'],
    [''],
    ['; a=b'],
  ] as const)
    assert.deepEqual(read(text), expected, text);
});

test('continuations and charsets of parameters are joined (RFC 2231)', () => {
  for (const [text, ...expected] of [
    // The examples of RFC 2231.
    ['a/b; URL*0="ftp://"; URL*1="cs.utk.edu/pub"', 'a/b', 'url=ftp://cs.utk.edu/pub'],
    ["a/b; title*=us-ascii'en-us'This%20is%20%2A%2A%2Afun%2A%2A%2A", 'a/b', 'title*=This is ***fun***'],
    [
      "a/b; title*0*=us-ascii'en'This%20is%20even%20more%20; title*1*=%2A%2A%2Afun%2A%2A%2A%20; title*2=\"isn't it!\"",
      'a/b',
      "title*=This is even more ***fun*** isn't it!",
    ],
    // Sections in another order, one that is missing, one that is there twice.
    ["a/b; f*1*=%82; c=d; f*0*=cp437''%81; f*3=x; f*0=y", 'a/b', 'f*=üé', 'c=d'],
    ['a/b; f*1=x', 'a/b'],
    ["a/b; f=plain; f*=utf-8''%e2%82%ac", 'a/b', 'f=plain', 'f*=€'],
    ['a/b; f*=nothing%2', 'a/b', 'f*=nothing%2'],
  ] as const)
    assert.deepEqual(read(text), expected, text);
});

test('the number of parameters is bounded', () => {
  assert.equal(read(`a/b${'; c=d'.repeat(200)}`).length, 101);
});

test('a token stands first', () => {
  assert.equal(readToken(' (comment) Quoted-Printable; x'), 'quoted-printable');
  assert.equal(readToken('(only a comment)'), '');
});

test('any text is read', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ';', '=', '"', '\\', '(', ')', '*', '0', "'", ' ', '%', 'é'),
  });
  fc.assert(fc.property(text, (value) => assert.ok(read(`a/b;${value}`)[0]?.startsWith('a/b'))));
});
