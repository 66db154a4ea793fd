/** Writes a message as the lines of a multi-line response (RFC 1939 section 3), as a whole or up to a number of lines. */
import { doubleDots } from '../double-dots.ts';
import { CR, DOT, LF } from '../octets.ts';

const HEADER_END = Buffer.from('\r\n\r\n');
const LINE_END = '\r\n';
const END = '.\r\n';
/** Octets that follow a message, by the number of line ends that it lacks. */
const ENDS = ['', LINE_END, `${LINE_END}${LINE_END}`].map((lineEnds) => Buffer.from(`${lineEnds}${END}`));
/** Octet that stands for NUL, at which some clients stop reading. */
const REPLACED_NUL = 0x80;
/** Number of octets before a chunk in which the end of the header can begin. */
const MAX_BEFORE = HEADER_END.length - 1;

/** Encodes one message, whose chunks may be cut anywhere. Its lines end with CRLF, except the last one that may lack it. */
export class MessageEncoder {
  /** True when all lines that were asked for are written. */
  isComplete = false;
  /** Lines of the body that are still to be written. */
  #lines: number;
  /** Octets in which the end of the header may have begun; undefined once it was found. A header may be empty. */
  #before: Buffer | undefined = HEADER_END.subarray(0, 2);
  /** Last octet that was written. A message begins at the start of a line. */
  #last = LF;

  /** Encodes the header and this number of lines of the body (TOP). */
  constructor(bodyLines = Number.POSITIVE_INFINITY) {
    this.#lines = bodyLines;
  }

  /** Returns what is sent of a chunk: the chunk itself, changed, unless lines in it begin with a dot. */
  next(chunk: Buffer): Buffer {
    if (chunk.length === 0 || this.isComplete) return chunk.subarray(0, 0);
    const wanted = chunk.subarray(0, this.#findEnd(chunk));
    for (let at = wanted.indexOf(0); at >= 0; at = wanted.indexOf(0, at + 1)) wanted[at] = REPLACED_NUL;
    const isLineStart = this.#last === LF;
    this.#last = wanted.at(-1) ?? this.#last;
    return encodeDots(wanted, isLineStart);
  }

  /**
   * Returns what follows the message: the CRLF that its last line lacks, the empty line that a message without a body may lack and that
   * some clients wait for, and the dot.
   */
  end(): Buffer {
    const lineEnds = (this.#last === LF ? 0 : 1) + (this.#before === undefined ? 0 : 1);
    return ENDS[lineEnds] as Buffer;
  }

  /** Returns the offset behind the last octet of a chunk that is to be sent. */
  #findEnd(chunk: Buffer): number {
    let at = this.#findBody(chunk);
    if (this.#before !== undefined || this.#lines === Number.POSITIVE_INFINITY) return chunk.length;
    for (; this.#lines > 0; this.#lines--) {
      const end = chunk.indexOf(LF, at);
      if (end < 0) return chunk.length;
      at = end + 1;
    }
    this.isComplete = true;
    return at;
  }

  /** Returns the offset of the body in a chunk, and notes that the header has ended. */
  #findBody(chunk: Buffer): number {
    const before = this.#before;
    if (before === undefined) return 0;
    const seam = Buffer.concat([before, chunk.subarray(0, MAX_BEFORE)]);
    const endInSeam = seam.indexOf(HEADER_END);
    const end = endInSeam < 0 ? chunk.indexOf(HEADER_END) : endInSeam - before.length;
    if (endInSeam < 0 && end < 0) {
      this.#before = (chunk.length < MAX_BEFORE ? seam : chunk).subarray(-MAX_BEFORE);
      return chunk.length;
    }
    this.#before = undefined;
    return end + HEADER_END.length;
  }
}

const LINE_WITH_DOT = Buffer.of(LF, DOT);

/** Doubles the dot of each line that begins with one. Most messages have none, and are not copied. */
function encodeDots(bytes: Buffer, isLineStart: boolean): Buffer {
  const hasFirst = isLineStart && bytes[0] === DOT;
  if (!hasFirst && !bytes.includes(LINE_WITH_DOT)) return bytes;
  return doubleDots(bytes, { dots: countDots(bytes, isLineStart), isLineStart });
}

function countDots(bytes: Buffer, isLineStart: boolean): number {
  let dots = 0;
  let previous = isLineStart ? LF : CR;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === DOT && previous === LF) dots++;
    previous = byte;
  }
  return dots;
}
