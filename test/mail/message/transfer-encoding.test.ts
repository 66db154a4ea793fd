import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quotedPrintable } from '../../../src/mail/message/quoted-printable.ts';
import { decodeTransfer } from '../../../src/mail/message/transfer-encoding.ts';

function decode(text: string, encoding: string): string | undefined {
  return decodeTransfer(Buffer.from(text, 'latin1'), encoding)?.toString('latin1');
}

test('encodings that change nothing leave the octets, and an unknown one has none', () => {
  for (const encoding of ['7bit', '8bit', 'binary']) assert.equal(decode('a=3D\0', encoding), 'a=3D\0');
  assert.equal(decode('a', 'uuencode'), undefined);
  assert.equal(decode('a', ''), undefined);
});

test('quoted-printable is decoded leniently', () => {
  for (const [encoded, decoded] of [
    ['caf=E9=e9', 'caf\xe9\xe9'],
    ['soft =\r\nbreak', 'soft break'],
    ['soft=  \r\nbreak', 'softbreak'],
    ['soft=\nbreak', 'softbreak'],
    ['trailing \t \r\nspace  ', 'trailing\r\nspace'],
    ['in side', 'in side'],
    ['not =4 =XY =', 'not =4 =XY '],
    ['end=\r\n', 'end'],
    ['bare\rCR ', 'bare\rCR'],
  ] as const)
    assert.equal(decode(encoded, 'quoted-printable'), decoded, encoded);
});

test('base64 ignores what is not of its alphabet, and padding ends it', () => {
  assert.equal(decode('aGVs\r\nbG8!=', 'base64'), 'hello');
  assert.equal(decode('aGVsbG8=\r\n-- \r\nfooter of list\r\n', 'base64'), 'hello');
  assert.equal(decode('YWI=', 'base64'), 'ab');
  assert.equal(decode('====', 'base64'), '');
});

test('what was encoded is decoded again', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
      const bytes = Buffer.from(octets);
      const quoted = Buffer.concat([...quotedPrintable(bytes, 'data')]);
      assert.deepEqual(decodeTransfer(quoted, 'quoted-printable'), bytes);
      assert.deepEqual(decodeTransfer(Buffer.from(bytes.toString('base64')), 'base64'), bytes);
    }),
  );
});
