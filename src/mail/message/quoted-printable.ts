/** Encodes a body in quoted-printable (RFC 2045 section 6.7), slice by slice, so that a large text is in memory only once. */
import { CR, EQUALS, LF, SPACE, TAB, TILDE } from '../octets.ts';

type LineEnds =
  /** CRLF is a line break of a text and is kept. Bare CR and LF are encoded. */
  | 'breaks'
  /**
   * CR and LF are ordinary bytes and are encoded, since a reader may store line breaks in its own way (rule 4). A soft
   * break follows each LF, so that a person who looks at the source of the message still sees lines.
   */
  | 'data';

const CAPITAL_F = 0x46;
const FROM = Buffer.from('From ', 'latin1');

/** Maximum length of a line (RFC 2045 section 6.7 (5)). */
const MAX_LINE_CHARACTERS = 76;
/** Number of bytes encoded at a time, which takes a fraction of a millisecond. */
const SLICE_BYTES = 48 * 1024;
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

/** Yields the encoded form in slices. */
export function* quotedPrintable(bytes: Buffer, lineEnds: LineEnds): Generator<Buffer> {
  let column = 0;
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    const end = Math.min(start + SLICE_BYTES, bytes.length);
    const slice = quoteSlice(bytes, { start, end, column, lineEnds });
    yield slice.output;
    column = slice.column;
  }
}

type Slice = {
  start: number;
  end: number;
  /** Number of characters on the current line so far. */
  column: number;
  lineEnds: LineEnds;
};

/** Encodes white space at the end of a line (RFC 2045 section 6.7, rule 3), and "From " at its start (RFC 2049 section 3). */
function quoteSlice(bytes: Buffer, slice: Slice): { output: Buffer; column: number } {
  const hasBreaks = slice.lineEnds === 'breaks';
  const output = Buffer.allocUnsafe(maxQuotedLength(slice.end - slice.start, slice.lineEnds));
  let at = 0;
  let column = slice.column;
  for (let index = slice.start; index < slice.end; index++) {
    const byte = bytes[index] as number;
    const isPrintable = byte > SPACE && byte <= TILDE && byte !== EQUALS;
    const followsData = !hasBreaks && column > 0 && bytes[index - 1] === LF;
    // Fast path: most bytes are printable, in the middle of a line, and written unchanged.
    if (isPrintable && column > 0 && column < MAX_LINE_CHARACTERS - 1 && !followsData) {
      output[at++] = byte;
      column++;
      continue;
    }
    if (hasBreaks && byte === CR && bytes[index + 1] === LF) continue;
    if (hasBreaks && byte === LF && bytes[index - 1] === CR) {
      output[at++] = CR;
      output[at++] = LF;
      column = 0;
      continue;
    }
    const endsLine = index + 1 === bytes.length || (hasBreaks && isCrlf(bytes, index + 1));
    const isSpace = byte === SPACE || byte === TAB;
    let isPlain = isSpace ? !endsLine : isPrintable;
    const width = isPlain ? 1 : 3;
    if (followsData || column + width > MAX_LINE_CHARACTERS - (endsLine ? 0 : 1)) {
      output[at++] = EQUALS;
      output[at++] = CR;
      output[at++] = LF;
      column = 0;
    }
    if (column === 0 && isFrom(bytes, index)) isPlain = false;
    column += isPlain ? 1 : 3;
    if (isPlain) {
      output[at++] = byte;
    } else {
      output[at++] = EQUALS;
      output[at++] = HEX[byte >> 4] as number;
      output[at++] = HEX[byte & 15] as number;
    }
  }
  return { output: output.subarray(0, at), column };
}

function isCrlf(bytes: Buffer, index: number): boolean {
  return bytes[index] === CR && bytes[index + 1] === LF;
}

/**
 * Returns true at a "From ": mailbox files mark the start of a message with it, and programs that write them change
 * such lines.
 */
export function isFrom(bytes: Buffer, index: number): boolean {
  return bytes[index] === CAPITAL_F && bytes.subarray(index, index + FROM.length).equals(FROM);
}

/**
 * Returns an upper bound: each byte takes at most three characters, and a soft break three more, after at least 73
 * characters or after an LF.
 */
function maxQuotedLength(length: number, lineEnds: LineEnds): number {
  const perByte = lineEnds === 'breaks' ? 3 : 6;
  return perByte * length + 3 + 3 * Math.ceil((3 * length) / 73);
}
