/** A message's bytes on their way into an SMTP session: checked and dot-stuffed, over any borders between chunks. */

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const CARRIAGE_RETURN = '\r';
const LINE_FEED = '\n';

/** Whether every CR and LF is part of a CRLF (RFC 5321 2.3.8). Anything else is how mail is smuggled: some servers end
 * the message at a bare LF and a dot (security.md 2.1). */
export function hasOnlyCrlf(bytes: Uint8Array): boolean {
  const lines = new CrlfCheck();
  return lines.accepts(asBuffer(bytes)) && !lines.isBetweenCrAndLf;
}

/** The same of a message that comes in chunks. */
export class CrlfCheck {
  #endsWithCr = false;

  get isBetweenCrAndLf(): boolean {
    return this.#endsWithCr;
  }

  /** False at a CR or LF outside CRLF; nothing after it counts. */
  accepts(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    if (this.#endsWithCr && chunk[0] !== LF) return false;
    // One character for each byte; searching a string is faster than searching a buffer line by line.
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

/** The same bytes, not a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
