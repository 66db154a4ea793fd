import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchGlob, parseGlob } from '../../../src/mail/sieve/match/glob.ts';

/** Returns the pattern as a regular expression, whose stars are as short as they can be. */
function toRegularExpression(pattern: string): RegExp {
  const source = pattern.replace(/\\(.)|[*?]|[^*?\\]+/gs, (piece, escaped?: string) => {
    if (escaped !== undefined) return escaped.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    if (piece === '*') return '(.*?)';
    return piece === '?' ? '(.)' : piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 's');
}

test('patterns match what regular expressions match', () => {
  const characters = fc.constantFrom('a', 'b');
  const pieces = fc.constantFrom('a', 'b', '*', '?', 'ab', '?a', '\\*', '\\?');
  const patterns = fc.array(pieces, { maxLength: 10 }).map((all) => all.join(''));
  const texts = fc
    .array(fc.oneof(characters, fc.constantFrom('*', '?')), { maxLength: 30 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      const isMatch = matchGlob(parseGlob(pattern), text, () => undefined) !== undefined;
      assert.equal(isMatch, toRegularExpression(pattern).test(text));
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('long pieces with single characters are found, and their work is counted', () => {
  const piece = `${'?b'.repeat(40)}c`;
  const text = `${'ab'.repeat(100)}${'xb'.repeat(40)}c${'ab'.repeat(10)}`;
  let work = 0;
  const places = matchGlob(parseGlob(`*${piece}*`), text, (steps) => {
    work += steps;
  });
  assert.deepEqual(places, [0, 200, text.length]);
  // Three words hold the 81 bits of the piece.
  assert.equal(work, 3 * text.length);
  assert.equal(
    matchGlob(parseGlob(`*${piece}d*`), text, () => undefined),
    undefined,
  );
});
