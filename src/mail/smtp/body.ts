/** Checks the line ends of a message and doubles its leading dots, in chunks that may be cut anywhere. */
import { CR, DOT, LF } from '../octets.ts';

const CARRIAGE_RETURN = '\r';
const LINE_FEED = '\n';

/**
 * Returns true when every CR and LF is part of a CRLF (RFC 5321 2.3.8). A bare CR or LF lets an attacker smuggle mail:
 * some servers end the message at a bare LF and a dot.
 */
export function hasOnlyCrlf(bytes: Uint8Array): boolean {
  const lines = new CrlfCheck();
  return lines.accepts(asBuffer(bytes)) && !lines.isBetweenCrAndLf;
}

/** Checks the line ends of a message that arrives in chunks; `hasOnlyCrlf` checks a whole one. */
export class CrlfCheck {
  #endsWithCr = false;

  /** True when the last chunk ended with a CR, so that the next one must begin with LF. */
  get isBetweenCrAndLf(): boolean {
    return this.#endsWithCr;
  }

  /** Returns false for a CR or LF outside CRLF. The result of any later call means nothing. */
  accepts(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    if (this.#endsWithCr && chunk[0] !== LF) return false;
    // Latin-1 gives one character for each byte. Searching a string is faster than searching a buffer line by line.
    const text = chunk.toString('latin1');
    let at = this.#endsWithCr ? 1 : 0;
    this.#endsWithCr = chunk.at(-1) === CR;
    for (;;) {
      const carriageReturn = text.indexOf(CARRIAGE_RETURN, at);
      const lineFeed = text.indexOf(LINE_FEED, at);
      if (carriageReturn < 0) return lineFeed < 0;
      if (carriageReturn === text.length - 1) return lineFeed < 0;
      if (lineFeed !== carriageReturn + 1) return false;
      at = lineFeed + 1;
    }
  }
}

/**
 * Puts a second dot before each line that begins with a dot (RFC 5321 4.5.2). `slice` may begin inside a line. It is
 * returned unchanged, not copied, when no line needs a dot.
 */
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

/** Returns the position of the leading dot of the next line after `from` that has one, or -1. */
function nextDot(slice: Buffer, from: number): number {
  const lineFeed = slice.indexOf(DOT_AFTER_LINE, from);
  return lineFeed < 0 ? -1 : lineFeed + 1;
}

/** Views the bytes as a Buffer without copying them. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
