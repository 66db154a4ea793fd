/** A tail is limited to what somebody can read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createLineLimit,
  MAX_FRAMES_PER_SECOND,
  MAX_LINES_PER_SECOND,
} from '../../../src/dashboard/live/line-limit.ts';

test('a burst is shown at once, and then nothing until a second has passed', () => {
  const limit = createLineLimit();
  assert.deepEqual(
    [50, 10, 10, 10, 10].map((lines) => limit(lines)),
    [20, 0, 0, 0, 10],
  );
});

test('whatever comes, the frames of a second never have more lines than may be shown', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100), { maxLength: 100 }), (counts) => {
      const limit = createLineLimit();
      const shown = counts.map((lines) => limit(lines));
      assert.ok(shown.every((lines, index) => lines >= 0 && lines <= (counts[index] ?? 0)));
      for (let first = 0; first < shown.length; first++) {
        const second = shown.slice(first, first + MAX_FRAMES_PER_SECOND);
        assert.ok(second.reduce((sum, lines) => sum + lines, 0) <= MAX_LINES_PER_SECOND);
      }
    }),
  );
});
