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
/** Number of octets in which the first one above 127 of an undeclared body is looked for. Our own limit. */
const MAX_UNDECIDED_BYTES = 64 * 1024;
/** Maximum depth of parts in which boundaries are looked for. Our own limit. */
const MAX_DEPTH = 50;
/**
 * Maximum number of boundaries and ends of headers that are looked at, which a thousand parts have. What follows leaves as it came, because each
 * takes as much time as a kilobyte. Our own limit.
 */
const MAX_MARKS = 2_000;
const DASH = 0x2d;
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
  #rest: Buffer = Buffer.alloc(0);
  /** True when the present line has begun in an earlier piece. */
  #isInLine = false;
  /** Contiguous octets of the present piece that leave together. */
  #run: { from: number; to: number } | undefined;
  #headerBytes: number | undefined;
  #hasEnded = false;

  /** Size of the header of the message as it leaves, with its empty line; undefined until it has left. */
  get headerBytes(): number | undefined {
    return this.#headerBytes;
  }

  /**
   * Takes the next piece of the message, which begins with its header and has CRLF line ends, and yields what leaves. The caller bounds the
   * header of the message.
   */
  *next(piece: Buffer): Generator<Buffer> {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#rest = Buffer.alloc(0);
    let at = 0;
    while (at < bytes.length) {
      const end = findOctet(bytes, LF, at);
      if (end < 0) break;
      yield* this.#readLine(bytes, at, end + 1);
      this.#isInLine = false;
      at = end + 1;
    }
    yield* this.#readUnfinished(bytes, at);
    yield* this.#flush(bytes);
  }

  /** Yields what is left at the end of the message. */
  *end(): Generator<Buffer> {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    this.#hasEnded = true;
    if (rest.length > 0) yield* this.#readLine(rest, 0, rest.length);
    yield* this.#flush(rest);
    if (this.#mode === 'header' || this.#mode === 'undecided') yield* this.#release();
  }

  /** Keeps an unfinished line that may be a boundary; a longer one is read as it is. */
  *#readUnfinished(bytes: Buffer, at: number): Generator<Buffer> {
    if (at >= bytes.length) return;
    if (!this.#isInLine && bytes.length - at < MAX_BOUNDARY_LINE_BYTES) {
      this.#rest = Buffer.from(bytes.subarray(at));
      return;
    }
    // A CR waits for its LF.
    const end = bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length;
    this.#rest = Buffer.from(bytes.subarray(end));
    if (end === at) return;
    yield* this.#readLine(bytes, at, end);
    this.#isInLine = true;
  }

  *#readLine(bytes: Buffer, start: number, end: number): Generator<Buffer> {
    const mayBeBoundary = !this.#isInLine && this.#boundaries.length > 0;
    if (mayBeBoundary && bytes[start] === DASH && bytes[start + 1] === DASH) {
      const level = this.#findBoundary(bytes.toString('latin1', start, end));
      if (level) {
        yield* this.#flush(bytes);
        if (this.#mode === 'header' || this.#mode === 'undecided') yield* this.#release();
        this.#boundaries.length = level.depth;
        this.#mode = level.isLast || !this.#mayLook() ? 'pass' : 'header';
        yield bytes.subarray(start, end);
        return;
      }
    }
    switch (this.#mode) {
      case 'header':
        yield* this.#readHeaderLine(bytes.subarray(start, end));
        return;
      case 'undecided':
        yield* this.#hold(bytes.subarray(start, end));
        return;
      default:
        if (this.#run) this.#run.to = end;
        else this.#run = { from: start, to: end };
    }
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

  *#readHeaderLine(line: Buffer): Generator<Buffer> {
    this.#header.push(line);
    this.#heldBytes += line.length;
    const isEmptyLine = !this.#isInLine && (line.length <= 1 || (line.length === 2 && line[0] === CR));
    if (isEmptyLine) yield* this.#endHeader();
    else if (!this.#isTop && this.#heldBytes > MAX_HEADER_BYTES) yield* this.#release();
  }

  *#endHeader(): Generator<Buffer> {
    const header = Buffer.concat(this.#header);
    const part: PartKind = this.#mayLook() ? readPartKind(header) : { kind: 'opaque' };
    switch (part.kind) {
      case 'undeclared':
        this.#mode = 'undecided';
        return;
      case 'eight-bit':
        yield* this.#leave(withQuotedPrintable(header, this.#isTop), 'quote');
        return;
      case 'parts':
        this.#boundaries.push(`--${part.boundary}`);
        yield* this.#leave(header, 'pass');
        return;
      case 'message':
        yield* this.#leave(header, 'header');
        return;
      case 'opaque':
        yield* this.#leave(header, 'pass');
    }
  }

  /** Counts a mark. Returns false, and forgets the boundaries, behind too many of them; also returns false for a part that is too deep. */
  #mayLook(): boolean {
    this.#marks += 1;
    if (this.#marks > MAX_MARKS) this.#boundaries.length = 0;
    return this.#marks <= MAX_MARKS && this.#boundaries.length < MAX_DEPTH;
  }

  /** Lets a header leave. */
  *#leave(header: Buffer, mode: Mode): Generator<Buffer> {
    if (this.#isTop) this.#headerBytes = header.length;
    this.#isTop = false;
    this.#header = [];
    this.#heldBytes = 0;
    this.#mode = mode;
    yield header;
  }

  *#hold(line: Buffer): Generator<Buffer> {
    this.#body.push(line);
    this.#heldBytes += line.length;
    if (!isAscii(line)) {
      const body = Buffer.concat(this.#body.splice(0));
      yield* this.#leave(withQuotedPrintable(Buffer.concat(this.#header), this.#isTop), 'quote');
      yield* this.#quote(body);
    } else if (this.#heldBytes > MAX_UNDECIDED_BYTES) yield* this.#release();
  }

  /** Lets everything that is held leave as it came. */
  *#release(): Generator<Buffer> {
    const body = this.#body.splice(0);
    yield* this.#leave(Buffer.concat(this.#header), 'pass');
    yield* body;
  }

  *#flush(bytes: Buffer): Generator<Buffer> {
    const run = this.#run;
    this.#run = undefined;
    if (!run) return;
    const octets = bytes.subarray(run.from, run.to);
    if (this.#mode === 'quote') yield* this.#quote(octets);
    else yield octets;
  }

  /** A line that goes on in the next piece ends here with a soft break, since each piece is encoded for itself. */
  *#quote(octets: Buffer): Generator<Buffer> {
    yield* quotedPrintable(octets, 'breaks');
    if (octets[octets.length - 1] !== LF && !this.#hasEnded) yield SOFT_BREAK;
  }
}
