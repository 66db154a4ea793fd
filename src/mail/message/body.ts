/**
 * Bodies of text parts: line ends made CRLF, then the shortest transfer encoding that carries them (RFC 2045 6):
 * 7bit where it fits, else quoted-printable, else base64.
 */
import { base64Lines } from './base64.ts';
import { LINE_LIMIT_OCTETS } from './headers.ts';

export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

export type EncodedBody = {
  encoding: TransferEncoding;
  /** ASCII; ends with a line end only where the text did. What is encoded is so as it is read. */
  pieces(): Iterable<Buffer>;
  /** The whole, where it stands as it is. */
  unencoded: Buffer | undefined;
};

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const EQUALS = 0x3d;
const TILDE = 0x7e;

/** RFC 2045 6.7 (5): at most 76 characters. */
const ENCODED_LINE_CHARACTERS = 76;
/** Encoded at a time: a fraction of a millisecond. */
const SLICE_BYTES = 48 * 1024;
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

export function encodeBody(text: string): EncodedBody {
  const bytes = Buffer.from(text.replace(/\r\n?|\n/g, '\r\n'), 'utf8');
  const { encodedBytes, longestLine, isClean } = survey(bytes);
  if (isClean && longestLine <= LINE_LIMIT_OCTETS) {
    return { encoding: '7bit', pieces: () => [bytes], unencoded: bytes };
  }
  const quotedLength = bytes.length + 2 * encodedBytes;
  const base64Length = Math.ceil(bytes.length / 3) * 4;
  const isQuoted = quotedLength <= base64Length;
  return {
    encoding: isQuoted ? 'quoted-printable' : 'base64',
    pieces: () => (isQuoted ? quotedPrintable(bytes) : base64Lines({ kind: 'bytes', bytes })),
    unencoded: undefined,
  };
}

/** What the choice of an encoding needs to know. `isClean`: ASCII without NUL and without CR or LF outside CRLF. */
function survey(bytes: Buffer): { encodedBytes: number; longestLine: number; isClean: boolean } {
  let encodedBytes = 0;
  let longestLine = 0;
  let isClean = true;
  let lineStart = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte === LF) {
      longestLine = Math.max(longestLine, index - 1 - lineStart);
      lineStart = index + 1;
    } else if (byte > TILDE || byte < SPACE || byte === EQUALS) {
      if (byte === CR || byte === TAB) continue;
      encodedBytes++;
      if (byte > 0x7f || byte === 0) isClean = false;
    }
  }
  longestLine = Math.max(longestLine, bytes.length - lineStart);
  return { encodedBytes, longestLine, isClean };
}

/** RFC 2045 6.7. */
function* quotedPrintable(bytes: Buffer): Generator<Buffer> {
  let column = 0;
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    const slice = quoteSlice(bytes, { start, end: Math.min(start + SLICE_BYTES, bytes.length), column });
    yield slice.output;
    column = slice.column;
  }
}

type Slice = {
  start: number;
  end: number;
  /** Characters that stand in the line already. */
  column: number;
};

/** White space at the end of a line is encoded (RFC 2045 6.7, rule 3), CRLF stays (rule 4). */
function quoteSlice(bytes: Buffer, slice: Slice): { output: Buffer; column: number } {
  const output = Buffer.allocUnsafe(quotedPrintableLimit(slice.end - slice.start));
  let at = 0;
  let column = slice.column;
  for (let index = slice.start; index < slice.end; index++) {
    const byte = bytes[index] as number;
    if (byte === CR) continue;
    if (byte === LF) {
      output[at++] = CR;
      output[at++] = LF;
      column = 0;
      continue;
    }
    const endsLine = bytes[index + 1] === CR || index + 1 === bytes.length;
    const isSpace = byte === SPACE || byte === TAB;
    const isPlain = isSpace ? !endsLine : byte > SPACE && byte <= TILDE && byte !== EQUALS;
    const width = isPlain ? 1 : 3;
    if (column + width > ENCODED_LINE_CHARACTERS - (endsLine ? 0 : 1)) {
      output[at++] = EQUALS;
      output[at++] = CR;
      output[at++] = LF;
      column = 0;
    }
    column += width;
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

/** At most three octets for each, and three for a soft break: before the first, and after at least 73 of them. */
function quotedPrintableLimit(length: number): number {
  return 3 * length + 3 + 3 * Math.ceil((3 * length) / 73);
}
