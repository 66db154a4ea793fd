/** Reads the argument of PARTIAL (RFC 9394 section 4, `partial-range`). */
import { bad } from '../command-error.ts';
import type { PageRange } from '../page-range.ts';
import type { Cursor } from './cursor.ts';

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
