/**
 * Encodes the bodies of attachments. The receiver decodes exactly the bytes that were given, so line ends are never
 * changed. Files are sent in base64, except for texts that a person or a filter can then read as they stand (rspamd
 * counts base64 around plain ASCII as a disguise):
 *
 * - ASCII with CRLF line ends, and without anything that a mail system may change on the way (RFC 2049 section 3), is sent in
 *   `7bit`.
 * - Other ASCII is sent in quoted-printable. LF alone is a line end on most machines, and 7bit would deliver it as
 *   CRLF; as `=0A` it arrives unchanged. Such a file takes about 1.2 times its size, against 1.4 times in base64.
 * - Other texts are sent in quoted-printable where that is shorter than base64, as it is for European languages.
 */

import { isAscii } from 'node:buffer';
import { CR, EQUALS, LF, SPACE, TAB, TILDE } from '../octets.ts';
import { type Base64Source, base64Lines, bytesOf } from './base64.ts';
import type { EncodedBody } from './body.ts';
import { MAX_LINE_OCTETS } from './headers.ts';
import { isFrom, quotedPrintable } from './quoted-printable.ts';

/**
 * Maximum size of a text that is analysed; larger ones are sent in base64. Our own limit: the choice of an encoding
 * takes 3 ms of CPU time for each megabyte, so ten attachments of this size block the event loop for 7 ms.
 */
export const MAX_READABLE_BYTES = 256 * 1024;

/** Chooses the encoding of a file. `type` is its top-level media type, in lower case. */
export function encodeFile(type: string, content: Base64Source): EncodedBody {
  const base64: EncodedBody = {
    encoding: 'base64',
    pieces: () => base64Lines(content),
    holds: () => false,
  };
  const sizeBytes = sizeOf(content);
  // An empty part is encoded, because some readers otherwise take the line end before the boundary for its body.
  if (type !== 'text' || sizeBytes === 0 || sizeBytes > MAX_READABLE_BYTES) return base64;
  // The bytes are decoded again each time they are read, so that only one attachment of a message is in memory twice.
  const bytes = bytesOf(content);
  const { survives7bit, isPlainText, lineEnds, quotedLength } = survey(bytes);
  if (survives7bit) {
    return {
      encoding: '7bit',
      pieces: () => [bytesOf(content)],
      holds: (boundary) => bytesOf(content).includes(boundary),
    };
  }
  const base64Length = Math.ceil(bytes.length / 3) * 4;
  if (!isPlainText && quotedLength > base64Length) return base64;
  return {
    encoding: 'quoted-printable',
    pieces: () => quotedPrintable(bytesOf(content), lineEnds),
    holds: () => false,
  };
}

type Survey = {
  /** True for ASCII without NUL. */
  isPlainText: boolean;
  /** `breaks` when CR and LF occur as CRLF only. */
  lineEnds: 'breaks' | 'data';
  /** Length in quoted-printable, without the soft breaks of long lines. */
  quotedLength: number;
  /** True when every mail system passes the bytes on unchanged (RFC 2045 section 2.7, RFC 2049 section 3). */
  survives7bit: boolean;
};

function survey(bytes: Buffer): Survey {
  const isPlainText = isAscii(bytes) && !bytes.includes(0);
  let isFragile = isFragileLine(bytes, lastLineStart(bytes), bytes.length);
  let quoted = 0;
  let bareLineEnds = 0;
  let lineStart = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (IS_SPECIAL[byte] === 0) continue;
    if (byte === LF) {
      const isBare = bytes[index - 1] !== CR;
      if (isBare) bareLineEnds++;
      isFragile ||= isFragileLine(bytes, lineStart, isBare ? index : index - 1);
      lineStart = index + 1;
    } else if (byte === CR) {
      if (bytes[index + 1] !== LF) bareLineEnds++;
    } else {
      quoted++;
      isFragile ||= byte !== EQUALS;
    }
  }
  return {
    isPlainText,
    lineEnds: bareLineEnds === 0 ? 'breaks' : 'data',
    // A quoted byte takes two characters more; a bare line end takes five: `=0A`, `=` and a line end instead of one
    // byte.
    quotedLength: bytes.length + 2 * quoted + 5 * bareLineEnds,
    survives7bit: isPlainText && !isFragile && bareLineEnds === 0,
  };
}

/**
 * Lookup table: 1 for a byte that ends a line or that quoted-printable encodes. White space is checked at the ends of
 * lines.
 */
const IS_SPECIAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte <= TILDE && byte !== EQUALS) ? 0 : 1,
);

/** Returns true for a line that a mail system may cut, strip or quote (RFC 2049 section 3). */
function isFragileLine(bytes: Buffer, start: number, end: number): boolean {
  const last = end > start ? bytes[end - 1] : undefined;
  return last === SPACE || last === TAB || end - start > MAX_LINE_OCTETS || isFrom(bytes, start);
}

function lastLineStart(bytes: Buffer): number {
  return bytes.lastIndexOf(LF) + 1;
}

/** Returns the size of the decoded file, padding included: it is exact enough for a limit. */
function sizeOf(content: Base64Source): number {
  return content.kind === 'base64' ? (content.ascii.length / 4) * 3 : content.bytes.length;
}
