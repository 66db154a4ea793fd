/**
 * Encodes the bodies of text parts. Line ends become CRLF. The transfer encoding is 7bit when the text allows it, and
 * otherwise the shorter one of quoted-printable and base64 (RFC 2045 section 6).
 */
import { CR, EQUALS, LF, SPACE, TAB, TILDE } from '../octets.ts';
import { base64Lines } from './base64.ts';
import { MAX_LINE_OCTETS } from './headers.ts';
import { quotedPrintable } from './quoted-printable.ts';

type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

export type EncodedBody = {
  encoding: TransferEncoding;
  /**
   * Yields the body as ASCII. It ends with a line end only if the text does. Encodings are computed while they are
   * read.
   */
  pieces(): Iterable<Buffer>;
  /**
   * Returns true when the body may contain `boundary`. An encoded body cannot: our boundaries are never
   * quoted-printable or base64.
   */
  holds(boundary: string): boolean;
};

/** Chooses the transfer encoding of a text. */
export function encodeBody(text: string): EncodedBody {
  const canonical = text.replace(/\r\n?|\n/g, '\r\n');
  if (isPlain(canonical)) {
    const bytes = Buffer.from(canonical, 'latin1');
    return { encoding: '7bit', pieces: () => [bytes], holds: (boundary) => bytes.includes(boundary) };
  }
  const bytes = Buffer.from(canonical, 'utf8');
  const { encodedBytes, longestLine, isClean } = survey(bytes);
  if (isClean && longestLine <= MAX_LINE_OCTETS) {
    return { encoding: '7bit', pieces: () => [bytes], holds: (boundary) => bytes.includes(boundary) };
  }
  const holds = () => false;
  const quotedLength = bytes.length + 2 * encodedBytes;
  const base64Length = Math.ceil(bytes.length / 3) * 4;
  return quotedLength <= base64Length
    ? { encoding: 'quoted-printable', pieces: () => quotedPrintable(bytes, 'breaks'), holds }
    : { encoding: 'base64', pieces: () => base64Lines({ kind: 'bytes', bytes }), holds };
}

/** Matches everything but printable ASCII, tabs and line ends. */
const UNUSUAL = /[^\t\r\n -~]/;

/** Fast path: true for printable ASCII in short lines, as most pages of a broadcast are. `survey` takes ten times as long. */
function isPlain(text: string): boolean {
  if (UNUSUAL.test(text)) return false;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    if ((end < 0 ? text.length : end) - start > MAX_LINE_OCTETS) return false;
    if (end < 0) return true;
    start = end + 1;
  }
  return true;
}

/**
 * Measures what the choice of an encoding depends on. `isClean` is true for ASCII without NUL and without CR or LF
 * outside CRLF.
 */
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
