import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineCounter } from '../../../src/emails/check/lines.ts';

test('a position is in the line behind the breaks before it', () => {
  const lines = new LineCounter('a\nbc\n\nd', 3);
  assert.deepEqual(
    [0, 1, 2, 4, 5, 6, 6].map((position) => lines.lineOf(position)),
    [3, 3, 4, 4, 5, 6, 6],
  );
});

// Searching for the next break each time would read half a terabyte.
test('many positions in one long line cost no more than the line', () => {
  const length = 4_000_000;
  const lines = new LineCounter('x'.repeat(length));
  for (let position = 0; position < length; position += 16) lines.lineOf(position);
  assert.equal(lines.lineOf(length), 1);
});
