/** Pages of results (RFC 9394). */
import type { SequenceRange } from './sequence-set.ts';

/**
 * Positions of the first and the last result of a page, in either order, as the client wrote them. The first result is 1. Negative
 * positions count from the end, where -1 is the last result.
 */
export type PageRange = readonly [from: number, to: number];

/** Returns the results of a page, which are fewer than it has positions where results are missing. */
export function pageOf<Result>(results: readonly Result[], page: PageRange): Result[] {
  return results.slice(...boundsOf(page, results.length));
}

/** Returns the numbers of a page as ranges. The given ranges rise and do not overlap. */
export function pageOfRanges(ranges: readonly SequenceRange[], page: PageRange): SequenceRange[] {
  const count = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const [start, end] = boundsOf(page, count);
  const found: SequenceRange[] = [];
  let before = 0;
  for (const [from, to] of ranges) {
    const first = Math.max(from, from + start - before);
    const last = Math.min(to, from + end - 1 - before);
    if (first <= last) found.push([first, last]);
    before += to - from + 1;
  }
  return found;
}

/** Returns the indexes of the first result and of the one behind the last. */
function boundsOf([from, to]: PageRange, count: number): [start: number, end: number] {
  const [first, last] = from < to ? [from, to] : [to, from];
  if (first > 0) return [first - 1, last];
  return [Math.max(0, count + first), Math.max(0, count + last + 1)];
}
