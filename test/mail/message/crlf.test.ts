import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineEnds } from '../../../src/mail/message/crlf.ts';

/** Passes a text through in pieces of `cut` bytes. */
function convert(text: string, cut: number): string {
  const bytes = Buffer.from(text, 'latin1');
  const lineEnds = new LineEnds();
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += cut) pieces.push(lineEnds.next(bytes.subarray(at, at + cut)));
  return Buffer.concat(pieces).toString('latin1');
}

test('a bare LF becomes CRLF and nothing else changes, however the text is cut', () => {
  const parts = fc.constantFrom(
    '\n',
    '\r\n',
    'a',
    '.',
    '\u0000',
    '\u00ff',
    'a line that is longer than the near octets',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), (texts, cut) => {
      const text = texts.join('');
      assert.equal(convert(text, cut), text.replace(/(?<!\r)\n/g, '\r\n'));
    }),
    { numRuns: 100 },
  );
});

test('a piece without a bare LF is not copied', () => {
  const piece = Buffer.from('one\r\ntwo\r\n');
  assert.equal(new LineEnds().next(piece), piece);
});
