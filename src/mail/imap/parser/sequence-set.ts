/** Reads sets of sequence numbers or UIDs (RFC 9051 section 9, `sequence-set`). */

import { bad } from '../command-error.ts';
import { LAST, type PageRange, type SequenceRange, type SequenceSet } from '../sequence-set.ts';
import type { Cursor } from './cursor.ts';

const RANGE = /^([1-9]\d{0,19}|\*)(?::([1-9]\d{0,19}|\*))?$/;
/** Maximum sequence number or UID: 32 bits (RFC 9051 section 2.3.1.1). */
const MAX_NUMBER = 2 ** 32 - 1;

/** Returns the set at the cursor. @throws CommandError */
export function parseSequenceSet(cursor: Cursor): SequenceSet {
  const text = cursor.setText();
  if (text === '$') return text;
  return text.split(',').map(parseRange);
}

function parseRange(text: string): SequenceRange {
  const [, from, to = from] = RANGE.exec(text) ?? bad('The set of numbers is malformed');
  return [parseEnd(from), parseEnd(to)];
}

function parseEnd(text = ''): number {
  // Some clients write a number of more digits than there can be for the end of a range.
  return text === '*' ? LAST : Math.min(Number(text), MAX_NUMBER);
}

/** Reads the argument of PARTIAL (RFC 9394 section 4, `partial-range`). */

/** Returns the page. The cursor stands before the space. @throws CommandError */
export function parsePageRange(cursor: Cursor): PageRange {
  cursor.space();
  const from = parsePosition(cursor);
  cursor.expect(':');
  const to = parsePosition(cursor);
  return from < 0 === to < 0 ? [from, to] : bad('PARTIAL counts both positions from the same end');
}

function parsePosition(cursor: Cursor): number {
  const isFromEnd = cursor.skip('-');
  const position = cursor.positiveNumber();
  return isFromEnd ? -position : position;
}
