/** A tail is limited to what somebody can read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createLineLimit,
  MAX_FRAMES_PER_SECOND,
  MAX_LINES_PER_SECOND,
} from '../../../src/dashboard/live/line-limit.ts';

/** Time between two frames. */
const FRAME_MS = 1_000 / MAX_FRAMES_PER_SECOND;

/** Returns how many lines frames may have that come as often as they may. */
function shownOf(counts: readonly number[]): number[] {
  let now = 0;
  const limit = createLineLimit({ elapsed: () => now });
  return counts.map((lines) => {
    now += FRAME_MS;
    return limit(lines);
  });
}

test('a burst is shown at once, and then nothing until a second has passed', () => {
  assert.deepEqual(shownOf([50, 10, 10, 10, 10]), [20, 0, 0, 0, 10]);
});

test('a line that comes long after a burst is shown', () => {
  let now = 0;
  const limit = createLineLimit({ elapsed: () => now });
  assert.equal(limit(50), 20);
  now = 60_000;
  assert.equal(limit(1), 1);
});

test('whatever comes, the frames of a second never have more lines than may be shown', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100), { maxLength: 100 }), (counts) => {
      const shown = shownOf(counts);
      assert.ok(shown.every((lines, index) => lines >= 0 && lines <= (counts[index] ?? 0)));
      for (let first = 0; first < shown.length; first++) {
        const second = shown.slice(first, first + MAX_FRAMES_PER_SECOND);
        assert.ok(second.reduce((sum, lines) => sum + lines, 0) <= MAX_LINES_PER_SECOND);
      }
    }),
  );
});
