/** A message's bytes on their way into an SMTP session: what must be known of them first, and dot-stuffing. */
import { isAscii } from 'node:buffer';

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;

export function hasEightBitBytes(bytes: Uint8Array): boolean {
  return !isAscii(bytes);
}

/** Whether every CR and LF is part of a CRLF (RFC 5321 2.3.8). Anything else is how mail is smuggled: some servers end
 * the message at a bare LF and a dot (security.md 2.1). */
export function hasOnlyCrlf(message: Buffer): boolean {
  let at = 0;
  for (;;) {
    const carriageReturn = message.indexOf(CR, at);
    const end = carriageReturn < 0 ? message.length : carriageReturn;
    const lineFeed = message.indexOf(LF, at);
    if (lineFeed >= 0 && lineFeed < end) return false;
    if (carriageReturn < 0) return true;
    if (message[carriageReturn + 1] !== LF) return false;
    at = carriageReturn + 2;
  }
}

/** RFC 5321 4.5.2: a line that begins with a dot gets another one. `slice` may begin inside a line; it comes back as it
 * is where nothing is to be done. */
export function stuffDots(slice: Buffer, atLineStart: boolean): Buffer {
  const pieces: Buffer[] = [];
  let copied = 0;
  let dot = atLineStart && slice[0] === DOT ? 0 : nextDot(slice, 0);
  while (dot >= 0) {
    pieces.push(slice.subarray(copied, dot + 1));
    copied = dot;
    dot = nextDot(slice, dot);
  }
  if (pieces.length === 0) return slice;
  pieces.push(slice.subarray(copied));
  return Buffer.concat(pieces);
}

const DOT_AFTER_LINE = Buffer.from('\n.');

/** The dot of the next line that begins with one, behind `from`. */
function nextDot(slice: Buffer, from: number): number {
  const lineFeed = slice.indexOf(DOT_AFTER_LINE, from);
  return lineFeed < 0 ? -1 : lineFeed + 1;
}
