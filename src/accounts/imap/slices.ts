/** Cuts ranges of messages into slices, between which long commands let other work run. */
import type { SequenceRange } from '../../mail/imap/sequence-set.ts';
import { MESSAGES_PER_STATEMENT } from '../message-pause.ts';

/** Yields ranges of at most `size` numbers. */
export function* slicesOf(ranges: readonly SequenceRange[], size: number): Generator<SequenceRange> {
  for (const [from, to] of ranges)
    for (let start = from; start <= to; start += size) yield [start, Math.min(start + size - 1, to)];
}

/**
 * Yields lists of ranges, each for one write. A list costs at most `size`, where each number costs one and each range
 * `MESSAGES_PER_STATEMENT`; a single range may cost more.
 */
export function* groupsOf(ranges: readonly SequenceRange[], size: number): Generator<SequenceRange[]> {
  let group: SequenceRange[] = [];
  let cost = 0;
  for (const slice of slicesOf(ranges, size)) {
    const sliceCost = slice[1] - slice[0] + 1 + MESSAGES_PER_STATEMENT;
    if (group.length > 0 && cost + sliceCost > size) {
      yield group;
      group = [];
      cost = 0;
    }
    group.push(slice);
    cost += sliceCost;
  }
  if (group.length > 0) yield group;
}
