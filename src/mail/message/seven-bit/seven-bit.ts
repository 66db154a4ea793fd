/**
 * Converts a message to 7 bits while it arrives: bodies with octets above 127 become quoted-printable (RFC 6152 section 3, RFC 2045
 * section 6.7), so that every server takes the message and none changes it after it was signed. What is signed or encrypted stays as it is.
 */
import { isAscii } from 'node:buffer';
import { findOctet } from '../../find-octet.ts';
import { MAX_HEADER_BYTES } from '../../header-limits.ts';
import { CR, LF } from '../../octets.ts';
import { quotedPrintable } from '../quoted-printable.ts';
import { type PartKind, readPartKind, withQuotedPrintable } from './part-header.ts';

/** Maximum length of a line that can be a boundary (RFC 2046 section 5.1.1), with some white space. */
const MAX_BOUNDARY_LINE_BYTES = 1_024;
/** Number of octets, rounded up to a piece, in which the first one above 127 of an undeclared body is looked for. Our own limit. */
const MAX_UNDECIDED_BYTES = 64 * 1024;
/** Maximum depth of parts in which boundaries are looked for. Our own limit. */
const MAX_DEPTH = 50;
/**
 * Maximum number of boundaries and ends of headers that are looked at, which a thousand parts have. What follows leaves as it came, because each
 * takes as much time as a kilobyte. Our own limit.
 */
const MAX_MARKS = 2_000;
const DASH = 0x2d;
const NOTHING = Buffer.alloc(0);
const SOFT_BREAK = Buffer.from('=\r\n', 'latin1');

/** `header` collects a header; `undecided` holds a header with the beginning of its body; the others pass on or convert what comes. */
type Mode = 'header' | 'undecided' | 'pass' | 'quote';

export class SevenBit {
  #mode: Mode = 'header';
  /** Boundaries of the parts around the present position, outermost first, each with its two dashes. */
  readonly #boundaries: string[] = [];
  /** Pieces that are held: of a header, and of an undecided body. */
  #header: Buffer[] = [];
  #body: Buffer[] = [];
  #heldBytes = 0;
  #isTop = true;
  /** Number of boundaries and ends of headers so far. */
  #marks = 0;
  #rest: Buffer = NOTHING;
  /** True when the present line has begun in an earlier piece. */
  #isInLine = false;
  /** Contiguous octets of the present piece that are treated alike. */
  #run: { from: number; to: number } | undefined;
  /** Pieces that leave next. */
  #leaving: Buffer[] = [];
  #headerBytes: number | undefined;
  #hasEnded = false;

  /** Size of the header of the message as it leaves, with its empty line; undefined until it has left. */
  get headerBytes(): number | undefined {
    return this.#headerBytes;
  }

  /**
   * Takes the next piece of the message, which begins with its header and has CRLF line ends, and returns what leaves. The caller bounds the
   * header of the message, and the size of a piece.
   */
  next(piece: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#rest = NOTHING;
    let at = 0;
    while (at < bytes.length && !this.#passesRest) {
      const end = findOctet(bytes, LF, at);
      if (end < 0) break;
      this.#readLine(bytes, at, end + 1);
      this.#isInLine = false;
      at = end + 1;
    }
    if (this.#passesRest) this.#extendRun(at, bytes.length);
    else this.#readUnfinished(bytes, at);
    this.#flush(bytes);
    return this.#takeLeaving();
  }

  /** Returns what is left at the end of the message. */
  end(): Buffer[] {
    const rest = this.#rest;
    this.#rest = NOTHING;
    this.#hasEnded = true;
    if (rest.length > 0) this.#readLine(rest, 0, rest.length);
    this.#flush(rest);
    if (this.#mode === 'header' || this.#mode === 'undecided') this.#release();
    return this.#takeLeaving();
  }

  /** True when no boundary can end what leaves as it comes, so that its lines need not be looked at. */
  get #passesRest(): boolean {
    return this.#mode === 'pass' && this.#boundaries.length === 0;
  }

  #takeLeaving(): Buffer[] {
    const leaving = this.#leaving;
    this.#leaving = [];
    return leaving;
  }

  /** Keeps an unfinished line that may be a boundary; a longer one is read as it is. */
  #readUnfinished(bytes: Buffer, at: number): void {
    if (at >= bytes.length) return;
    if (!this.#isInLine && bytes.length - at < MAX_BOUNDARY_LINE_BYTES) {
      this.#rest = Buffer.from(bytes.subarray(at));
      return;
    }
    // A CR waits for its LF.
    const end = bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length;
    this.#rest = Buffer.from(bytes.subarray(end));
    if (end === at) return;
    this.#readLine(bytes, at, end);
    this.#isInLine = true;
  }

  #readLine(bytes: Buffer, start: number, end: number): void {
    const mayBeBoundary = !this.#isInLine && this.#boundaries.length > 0;
    if (mayBeBoundary && bytes[start] === DASH && bytes[start + 1] === DASH) {
      const level = this.#findBoundary(bytes.toString('latin1', start, end));
      if (level) {
        this.#flush(bytes);
        if (this.#mode === 'header' || this.#mode === 'undecided') this.#release();
        this.#boundaries.length = level.depth;
        this.#mode = level.isLast || !this.#mayLook() ? 'pass' : 'header';
        this.#leaving.push(bytes.subarray(start, end));
        return;
      }
    }
    if (this.#mode === 'header') this.#readHeaderLine(bytes.subarray(start, end));
    else this.#extendRun(start, end);
  }

  #extendRun(from: number, to: number): void {
    if (this.#run) this.#run.to = to;
    else this.#run = { from, to };
  }

  /** Returns how many boundaries are still around what follows the line; undefined when the line is no boundary. */
  #findBoundary(line: string): { depth: number; isLast: boolean } | undefined {
    const text = line.trimEnd();
    for (let index = this.#boundaries.length - 1; index >= 0; index--) {
      const boundary = this.#boundaries[index] ?? '';
      if (text === boundary) return { depth: index + 1, isLast: false };
      if (text === `${boundary}--`) return { depth: index, isLast: true };
    }
    return undefined;
  }

  #readHeaderLine(line: Buffer): void {
    this.#header.push(line);
    this.#heldBytes += line.length;
    const isEmptyLine = !this.#isInLine && (line.length <= 1 || (line.length === 2 && line[0] === CR));
    if (isEmptyLine) this.#endHeader();
    else if (!this.#isTop && this.#heldBytes > MAX_HEADER_BYTES) this.#release();
  }

  #endHeader(): void {
    const header = Buffer.concat(this.#header);
    const part: PartKind = this.#mayLook() ? readPartKind(header) : { kind: 'opaque' };
    switch (part.kind) {
      case 'undeclared':
        this.#mode = 'undecided';
        return;
      case 'eight-bit':
        this.#leave(withQuotedPrintable(header, this.#isTop), 'quote');
        return;
      case 'parts':
        this.#boundaries.push(`--${part.boundary}`);
        this.#leave(header, 'pass');
        return;
      case 'message':
        this.#leave(header, 'header');
        return;
      case 'opaque':
        this.#leave(header, 'pass');
    }
  }

  /** Counts a mark. Returns false, and forgets the boundaries, behind too many of them; also returns false for a part that is too deep. */
  #mayLook(): boolean {
    this.#marks += 1;
    if (this.#marks > MAX_MARKS) this.#boundaries.length = 0;
    return this.#marks <= MAX_MARKS && this.#boundaries.length < MAX_DEPTH;
  }

  /** Lets a header leave. */
  #leave(header: Buffer, mode: Mode): void {
    if (this.#isTop) this.#headerBytes = header.length;
    this.#isTop = false;
    this.#header = [];
    this.#heldBytes = 0;
    this.#mode = mode;
    this.#leaving.push(header);
  }

  #hold(octets: Buffer): void {
    this.#body.push(octets);
    this.#heldBytes += octets.length;
    if (!isAscii(octets)) {
      const body = Buffer.concat(this.#body.splice(0));
      this.#leave(withQuotedPrintable(Buffer.concat(this.#header), this.#isTop), 'quote');
      this.#quote(body);
    } else if (this.#heldBytes > MAX_UNDECIDED_BYTES) this.#release();
  }

  /** Lets everything that is held leave as it came. */
  #release(): void {
    const body = this.#body.splice(0);
    this.#leave(Buffer.concat(this.#header), 'pass');
    this.#leaving.push(...body);
  }

  /** Does with the run what the mode says. */
  #flush(bytes: Buffer): void {
    const run = this.#run;
    this.#run = undefined;
    if (!run || run.from === run.to) return;
    const octets = bytes.subarray(run.from, run.to);
    if (this.#mode === 'quote') this.#quote(octets);
    else if (this.#mode === 'undecided') this.#hold(octets);
    else this.#leaving.push(octets);
  }

  /** A line that goes on in the next piece ends here with a soft break, since each piece is encoded for itself. */
  #quote(octets: Buffer): void {
    this.#leaving.push(...quotedPrintable(octets, 'breaks'));
    if (octets[octets.length - 1] !== LF && !this.#hasEnded) this.#leaving.push(SOFT_BREAK);
  }
}
