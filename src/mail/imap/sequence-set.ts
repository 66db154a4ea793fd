/**
 * Sets of sequence numbers or UIDs, as clients write them (RFC 9051 section 9, `sequence-set`). What `*` stands for and
 * which numbers exist is known to the session, which resolves a set.
 */

/** Stands for `*`, the last number in use. */
export const LAST = Number.POSITIVE_INFINITY;

/** Both ends belong to the range. They may come in either order, because the value of `*` is not known yet. */
export type SequenceRange = readonly [from: number, to: number];

/** The saved result of a search, or ranges as the client wrote them: unsorted, and they may overlap. */
export type SequenceSet = '$' | readonly SequenceRange[];

/** Returns the ranges sorted and joined, where `*` is `last`. */
export function resolveRanges(ranges: readonly SequenceRange[], last: number): SequenceRange[] {
  const numberOf = (end: number): number => (end === LAST ? last : end);
  const sorted = ranges
    .map(([from, to]): [number, number] => [
      Math.min(numberOf(from), numberOf(to)),
      Math.max(numberOf(from), numberOf(to)),
    ])
    .sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const range of sorted) {
    const before = joined.at(-1);
    if (before && range[0] <= before[1] + 1) before[1] = Math.max(before[1], range[1]);
    else joined.push(range);
  }
  return joined;
}

/** Returns a set such as `1:3,7` of numbers in this order. Runs that rise by one become ranges. */
export function formatNumbers(numbers: Iterable<number>): string {
  const ranges: string[] = [];
  let from = Number.NaN;
  let to = Number.NaN;
  const flush = (): void => {
    if (!Number.isNaN(from)) ranges.push(from === to ? `${from}` : `${from}:${to}`);
  };
  for (const number of numbers) {
    if (number !== to + 1) {
      flush();
      from = number;
    }
    to = number;
  }
  flush();
  return ranges.join(',');
}

/** Pages of results (RFC 9394). */

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
