import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CrlfCheck, hasOnlyCrlf, stuffDots } from '../../../src/mail/smtp/body.ts';

const bytes = fc
  .array(fc.constantFrom('.', '..', '\r\n', '\r\n.', 'a', '\r', '\n', 'é'), { maxLength: 30 })
  .map((parts) => Buffer.from(parts.join('')));

test('stuffing doubles the dot at each line start, and only there', () => {
  fc.assert(
    fc.property(bytes, fc.boolean(), (slice, atLineStart) => {
      const text = slice.toString('latin1');
      const expected = (atLineStart ? text.replace(/^\./, '..') : text).replace(/\n\./g, '\n..');
      assert.equal(stuffDots(slice, atLineStart).toString('latin1'), expected);
    }),
    { numRuns: 1000 },
  );
});

test('a slice without such a dot is not copied', () => {
  const slice = Buffer.from('a.b\r\nc.\r\n');
  assert.equal(stuffDots(slice, true), slice);
});

test('a CR or LF outside CRLF is found', () => {
  fc.assert(
    fc.property(bytes, (slice) => {
      assert.equal(hasOnlyCrlf(slice), !/\r(?!\n)|(?<!\r)\n/.test(slice.toString('latin1')));
    }),
    { numRuns: 1000 },
  );
});

test('the check of line ends finds the same however the message is cut into chunks', () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60)), (whole, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      const lines = new CrlfCheck();
      const isClean = at.slice(1).every((end, index) => lines.accepts(whole.subarray(at[index], end)));
      assert.equal(isClean && !lines.isBetweenCrAndLf, hasOnlyCrlf(whole));
    }),
    { numRuns: 1000 },
  );
});
