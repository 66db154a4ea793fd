/**
 * Bodies of attachments. The receiver decodes exactly the bytes that were given, so nothing is done to their line ends.
 * Files are sent in base64, but for texts that a person or a filter can then read as they stand (rspamd counts base64
 * around plain ASCII as a disguise):
 *
 * - `7bit` for ASCII with CRLF line ends and nothing that a mail system may change on the way (RFC 2049 3);
 * - quoted-printable for other ASCII. LF alone is a line end on most machines, and 7bit would deliver it as CRLF; as
 *   `=0A` it arrives as it was. Such a file takes about 1.2 times its size, against 1.4 times in base64;
 * - quoted-printable for other texts where it is the shorter one, which it is for European languages.
 */
import { isAscii } from 'node:buffer';
import { type Base64Source, base64Lines } from './base64.ts';
import type { EncodedBody } from './body.ts';
import { LINE_LIMIT_OCTETS } from './headers.ts';
import { isFrom, quotedPrintable } from './quoted-printable.ts';

/**
 * Larger texts are sent in base64 without being read. The limit is our own: to choose an encoding takes 3 ms of a core for
 * each megabyte, so ten attachments of this size hold the event loop for 7 ms.
 */
export const MAX_READABLE_BYTES = 256 * 1024;

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const EQUALS = 0x3d;
const TILDE = 0x7e;

/** `type`: the top-level media type, in lower case. */
export function encodeFile(type: string, content: Base64Source): EncodedBody {
  const base64: EncodedBody = {
    encoding: 'base64',
    pieces: () => base64Lines(content),
    holds: () => false,
  };
  const sizeBytes = sizeOf(content);
  // Some readers take the line end before the boundary for the body of an empty part, unless it is encoded.
  if (type !== 'text' || sizeBytes === 0 || sizeBytes > MAX_READABLE_BYTES) return base64;
  // The bytes are decoded anew each time they are read, so that only one attachment of a message is held twice.
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
    ...{ encoding: 'quoted-printable', pieces: () => quotedPrintable(bytesOf(content), lineEnds) },
    holds: () => false,
  };
}

type Survey = {
  /** ASCII without NUL. */
  isPlainText: boolean;
  /** `breaks` where CR and LF occur as CRLF only. */
  lineEnds: 'breaks' | 'data';
  /** Length in quoted-printable, without the soft breaks of long lines. */
  quotedLength: number;
  /** Whether every mail system passes the bytes on as they are (RFC 2045 2.7, RFC 2049 3). */
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
    if (NEEDS_A_LOOK[byte] === 0) continue;
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
    // `=0A`, `=` and a line end in the place of one byte.
    quotedLength: bytes.length + 2 * quoted + 5 * bareLineEnds,
    survives7bit: isPlainText && !isFragile && bareLineEnds === 0,
  };
}

/** 1 for a byte that ends a line or that quoted-printable encodes; white space is looked at where a line ends. */
const NEEDS_A_LOOK = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte <= TILDE && byte !== EQUALS) ? 0 : 1,
);

/** Lines that a mail system may cut, strip or quote (RFC 2049 3). */
function isFragileLine(bytes: Buffer, start: number, end: number): boolean {
  const last = end > start ? bytes[end - 1] : undefined;
  return last === SPACE || last === TAB || end - start > LINE_LIMIT_OCTETS || isFrom(bytes, start);
}

function lastLineStart(bytes: Buffer): number {
  return bytes.lastIndexOf(LF) + 1;
}

/** Close enough for a limit: padding is counted. */
function sizeOf(content: Base64Source): number {
  return content.kind === 'base64' ? (content.ascii.length / 4) * 3 : content.bytes.length;
}

function bytesOf(content: Base64Source): Buffer {
  const { buffer, byteOffset, byteLength } = content.kind === 'base64' ? content.ascii : content.bytes;
  const given = Buffer.from(buffer, byteOffset, byteLength);
  return content.kind === 'base64' ? Buffer.from(given.toString('latin1'), 'base64') : given;
}
