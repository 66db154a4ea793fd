import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeFile, MAX_READABLE_BYTES } from '../../../src/mail/message/file-part.ts';

function encode(bytes: Buffer | string, type = 'text') {
  const { encoding, pieces } = encodeFile(type, { kind: 'bytes', bytes: Buffer.from(bytes) });
  return { encoding, body: Buffer.concat([...pieces()]).toString('latin1') };
}

for (const [what, text, encoding] of [
  ['empty', '', 'base64'],
  ['ASCII without a line end', 'hello', '7bit'],
  ['ASCII with CRLF', 'a = b\r\n\r\n\tc\r\n', '7bit'],
  ['a line of 998 characters', `${'x'.repeat(998)}\r\n`, '7bit'],
  ['a line of 999 characters', `${'x'.repeat(999)}\r\n`, 'quoted-printable'],
  ['ASCII with LF', 'name,plan\nann,pro\n', 'quoted-printable'],
  ['ASCII with CR', 'name,plan\rann,pro\r', 'quoted-printable'],
  ['ASCII with CRLF and LF', 'a line\r\nanother\n', 'quoted-printable'],
  ['white space at the end of a line', 'a line \r\nanother\r\n', 'quoted-printable'],
  ['white space at the end', 'a line\t', 'quoted-printable'],
  ['a line that begins a message in mailbox files', 'a line\r\nFrom here on\r\n', 'quoted-printable'],
  ['a control character', 'page\fbreak\r\n', 'quoted-printable'],
  ['ASCII that is shorter in base64', '\n'.repeat(100), 'quoted-printable'],
  [
    'a European language',
    'Viele Grüße aus Köln, und überhaupt: alles Gute zum neuen Jahr.\n',
    'quoted-printable',
  ],
  ['a language beyond Latin', '日本語のメール本文です\n', 'base64'],
  ['UTF-16', Buffer.from('hello', 'utf16le'), 'base64'],
] as const) {
  test(`a text file that is ${what} is sent in ${encoding}`, () => {
    assert.equal(encode(text).encoding, encoding);
    assert.equal(encode(text, 'application').encoding, 'base64');
  });
}

test('a text file is written so that people see its lines', () => {
  assert.equal(encode('a = b\r\nc\r\n').body, 'a = b\r\nc\r\n');
  assert.equal(
    encode('name,plan\n\n=ann,pro \nFrom x\n').body,
    'name,plan=0A=\r\n=0A=\r\n=3Dann,pro =0A=\r\n=46rom x=0A',
  );
  assert.equal(encode('page\fbreak \r\nFrom x\r\n').body, 'page=0Cbreak=20\r\n=46rom x\r\n');
  assert.equal(
    encode('a\r\nb\nc\rd').body,
    'a=0D=0A=\r\nb=0A=\r\nc=0Dd',
    'a reader may store line breaks in its way',
  );
});

test('no line of quoted-printable is too long, ends with white space or begins as a message does', () => {
  const part = fc.constantFrom(
    '\n',
    '\r\n',
    '\r',
    ' ',
    '\t',
    'From ',
    'F',
    '=',
    'é',
    'x'.repeat(71),
    'x'.repeat(76),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const { encoding, body } = encode(parts.join(''));
      if (encoding !== 'quoted-printable') return;
      for (const line of body.split('\r\n')) {
        assert.ok(line.length <= 76, line);
        assert.doesNotMatch(line, /[ \t]$|^From |[\r\n]/);
      }
    }),
    { numRuns: 250 },
  );
});

test('a text file of 256 KiB is read, a larger one is sent in base64 unread', () => {
  const longest = Buffer.alloc(MAX_READABLE_BYTES, 'a line\r\n');
  assert.equal(encode(longest).encoding, '7bit');
  assert.equal(encode(Buffer.concat([longest, Buffer.from('\r\n')])).encoding, 'base64');
  const large = encodeFile('text', {
    kind: 'base64',
    ascii: Buffer.alloc(Math.ceil(MAX_READABLE_BYTES / 3) * 4 + 4, 'YWFh'),
  });
  assert.equal(large.encoding, 'base64');
});

test('a file given in base64 is sent like the same file given as bytes', () => {
  for (const text of ['', 'a', 'ab', 'abc\r\n', 'abcd\n', 'Grüße\n']) {
    const ascii = Buffer.from(Buffer.from(text).toString('base64'));
    const { encoding, pieces } = encodeFile('text', { kind: 'base64', ascii });
    assert.deepEqual({ encoding, body: Buffer.concat([...pieces()]).toString('latin1') }, encode(text));
  }
});
