/**
 * Bodies of text parts: line ends made CRLF, then the shortest transfer encoding that carries them (RFC 2045 6):
 * 7bit where it fits, else quoted-printable, else base64.
 */
import { LINE_LIMIT_OCTETS } from './headers.ts';

export type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

/** `bytes` are ASCII; they end with a line end only where the text did. */
export type EncodedBody = { encoding: TransferEncoding; bytes: Buffer };

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const EQUALS = 0x3d;
const TILDE = 0x7e;

/** RFC 2045 6.7 (5) and 6.8: at most 76 characters. */
const ENCODED_LINE_CHARACTERS = 76;
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

export function encodeBody(text: string): EncodedBody {
  const bytes = Buffer.from(text.replace(/\r\n?|\n/g, '\r\n'), 'utf8');
  const { encodedBytes, longestLine, isClean } = survey(bytes);
  if (isClean && longestLine <= LINE_LIMIT_OCTETS) return { encoding: '7bit', bytes };
  const quotedLength = bytes.length + 2 * encodedBytes;
  const base64Length = Math.ceil(bytes.length / 3) * 4;
  return quotedLength <= base64Length
    ? { encoding: 'quoted-printable', bytes: quotedPrintable(bytes) }
    : { encoding: 'base64', bytes: base64(bytes) };
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

/** RFC 2045 6.7. White space at the end of a line is encoded (rule 3), CRLF stays (rule 4). */
function quotedPrintable(bytes: Buffer): Buffer {
  const output = Buffer.allocUnsafe(quotedPrintableLimit(bytes.length));
  let at = 0;
  let column = 0;
  for (let index = 0; index < bytes.length; index++) {
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
  return output.subarray(0, at);
}

/** At most three octets for each, and three for a soft break after at least 73 of them. */
function quotedPrintableLimit(length: number): number {
  return 3 * length + 3 * Math.ceil((3 * length) / 73);
}

/** RFC 2045 6.8. */
function base64(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('base64').replace(/.{76}(?=.)/g, '$&\r\n'), 'latin1');
}
