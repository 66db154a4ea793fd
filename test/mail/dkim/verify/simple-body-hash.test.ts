import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBodyHash } from '../../../../src/mail/dkim/body-hash.ts';
import { createSimpleBodyHash } from '../../../../src/mail/dkim/verify/body-hashes.ts';

/** Returns the simple form of a body, in the words of RFC 6376 section 3.4.3. */
function simple(body: string): string {
  let reduced = body;
  while (reduced.endsWith('\r\n')) reduced = reduced.slice(0, -2);
  return `${reduced}\r\n`;
}

const parts = fc.array(fc.constantFrom('a', ' ', '\r\n', '\r', '\n', '\r\n'.repeat(3_000), 'b'.repeat(100)), {
  maxLength: 12,
});
const places = fc.array(fc.nat(), { maxLength: 6 });

function cut(body: string, at: readonly number[]): Buffer[] {
  const bytes = Buffer.from(body, 'latin1');
  const ends = [...at.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

test('the simple form ends with one line end, wherever the body is cut', () => {
  fc.assert(
    fc.property(parts, places, (pieces, at) => {
      const body = pieces.join('');
      const hash = createSimpleBodyHash();
      for (const piece of cut(body, at)) hash.update(piece);
      const expected = simple(body);
      assert.equal(hash.digest(), createHash('sha256').update(expected, 'latin1').digest('base64'));
      assert.equal(hash.bytes, expected.length);
    }),
    { numRuns: 150 },
  );
});

test('the relaxed form tells its size too', () => {
  const sizes: [string, number][] = [
    ['', 0],
    ['\r\n\r\n', 0],
    ['a', 3],
    [' a \t b \r\n\r\n', 6],
    [`${'a'.repeat(5_000)}\r\n`, 5_002],
    [`a${'\r\n'.repeat(9_000)}`, 3],
    [`a${'\r\n'.repeat(9_000)}b`, 18_004],
  ];
  for (const [body, bytes] of sizes) {
    const hash = createBodyHash();
    hash.update(Buffer.from(body, 'latin1'));
    hash.digest();
    assert.equal(hash.bytes, bytes, body.slice(0, 20));
  }
});
