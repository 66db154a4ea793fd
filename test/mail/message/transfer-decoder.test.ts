import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTransferDecoder, decodeTransfer } from '../../../src/mail/message/transfer-encoding.ts';

const ENCODINGS = ['7bit', 'base64', 'quoted-printable'] as const;

/** Decodes pieces, which end at these places. */
function decodeIn(octets: Buffer, encoding: string, cuts: readonly number[]): Buffer {
  const decoder = createTransferDecoder(encoding);
  if (!decoder) throw new Error('the encoding is unknown');
  const decoded: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts.map((one) => one % (octets.length + 1)).sort((a, b) => a - b), octets.length]) {
    decoded.push(decoder.next(octets.subarray(from, cut)));
    from = cut;
  }
  return Buffer.concat([...decoded, decoder.end()]);
}

const character = fc.constantFrom(
  ...'Ab9+/-_=',
  '=',
  '=3D',
  '=C',
  '=\r\n',
  ' ',
  '\t',
  '\r',
  '\n',
  '\r\n',
  'é',
  '%',
);

test('pieces are decoded like the whole, wherever they are cut and whatever they are', () => {
  fc.assert(
    fc.property(
      fc.array(character, { maxLength: 60 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      (text, cuts) => {
        const octets = Buffer.from(text.join(''), 'latin1');
        for (const encoding of ENCODINGS)
          assert.deepEqual(decodeIn(octets, encoding, cuts), decodeTransfer(octets, encoding), encoding);
      },
    ),
    { numRuns: 500 },
  );
});

test('long lines of quoted-printable do not wait for their end', () => {
  const decoder = createTransferDecoder('quoted-printable');
  const octets = Buffer.from('a=3Db  '.repeat(20_000));
  const first = decoder?.next(octets) ?? Buffer.alloc(0);
  assert.ok(first.length > 99_000);
  const rest = Buffer.concat([decoder?.next(Buffer.from('c=')) ?? octets, decoder?.end() ?? octets]);
  const whole = decodeTransfer(Buffer.concat([octets, Buffer.from('c=')]), 'quoted-printable');
  assert.deepEqual(Buffer.concat([first, rest]), whole);
});

test('padding ends a body in base64, wherever it is cut, and an unknown encoding has no decoder', () => {
  const octets = Buffer.from('aGVsbG8=\r\nfooter of list =\r\n');
  for (const cut of [3, 7, 8, 9, 12]) assert.equal(decodeIn(octets, 'base64', [cut]).toString(), 'hello');
  assert.equal(createTransferDecoder('x-uuencode'), undefined);
});
