/** Sorts long lists without holding the thread: a merge sort that yields between its steps. */
import { createStepCounter, type Steps } from './steps.ts';

/** Length of the pieces that are sorted at once, with about 900 comparisons. Longer lists are merged from such pieces. */
const PIECE_LENGTH = 128;
/** Number of comparisons by which a piece is sorted. */
const COMPARISONS_PER_PIECE = 1_024;

/** Returns the sorted items. Items that are equal stay in their order. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Steps<Item[]> {
  const isDue = createStepCounter();
  let from: Item[] = [];
  for (let at = 0; at < items.length; at += PIECE_LENGTH) {
    for (const item of items.slice(at, at + PIECE_LENGTH).sort(compare)) from.push(item);
    if (at > 0 && isDue(COMPARISONS_PER_PIECE)) yield;
  }
  for (let length = PIECE_LENGTH; length < from.length; length *= 2) {
    const to: Item[] = [];
    for (let at = 0; at < from.length; at += 2 * length) {
      const middle = Math.min(at + length, from.length);
      const end = Math.min(at + 2 * length, from.length);
      let [left, right] = [at, middle];
      while (left < middle || right < end) {
        const isLeft =
          right >= end || (left < middle && compare(from[left] as Item, from[right] as Item) <= 0);
        to.push(from[isLeft ? left++ : right++] as Item);
        if (isDue(1)) yield;
      }
    }
    from = to;
  }
  return from;
}
