/**
 * Converts a message to 7 bits and to lines of at most 998 octets (RFC 5322 section 2.1.1) while it arrives, so that every server takes the
 * message and none changes it after it was signed. A body with octets above 127 or with a longer line becomes quoted-printable (RFC 6152
 * section 3, RFC 2045 section 6.7). Long lines are cut where that changes nothing: those of base64 and of quoted-printable, and those of the
 * text around parts, which nobody is shown (RFC 2046 section 5.1.1). The header of each part is repaired (repair/repair-header.ts).
 * Everything that is signed or encrypted stays as it is, with its long lines too: a change would break the signature (RFC 1847 section 2.1),
 * and most servers pass such lines on.
 */
import { isAscii } from 'node:buffer';
import { MAX_HEADER_BYTES } from '../../header-limits.ts';
import { CR, findOctet, LF } from '../../octets.ts';
import { MAX_LINE_OCTETS } from '../headers.ts';
import { quotedPrintable } from '../quoted-printable.ts';
import { type Repair, repairHeader } from '../repair/repair-header.ts';
import { guessCharset, type PartKind, readPartKind, withQuotedPrintable } from './part-header.ts';

/** Maximum length of a line that can be a boundary (RFC 2046 section 5.1.1), with some white space. */
const MAX_BOUNDARY_LINE_BYTES = 1_024;
/** Number of octets, rounded up to a piece, that an undeclared body may have and still stay as it came. */
const MAX_UNDECIDED_BYTES = 64 * 1024;
/** Maximum depth of parts in which boundaries are looked for. */
const MAX_DEPTH = 50;
/**
 * Maximum number of boundaries and ends of headers that are looked at, which a thousand parts have. What follows leaves as it came,
 * because each takes as much time as a kilobyte.
 */
const MAX_MARKS = 2_000;
const DASH = 0x2d;
const NOTHING = Buffer.alloc(0);
const SOFT_BREAK = Buffer.from('=\r\n', 'latin1');

/** Maximum length of a line with its CRLF. */
const MAX_WHOLE_LINE_BYTES = MAX_LINE_OCTETS + '\r\n'.length;

/** `header` collects a header; `undecided` holds a header with the beginning of its body; the others pass on or convert what comes. */
type Mode = 'header' | 'undecided' | 'pass' | 'quote';

export class SevenBit {
  readonly #repair: Repair;
  #mode: Mode = 'header';
  /** The way in which long lines that pass are cut; undefined for a body whose lines stay. */
  #cutting: Cutting | undefined;
  /** True when the body that is held becomes quoted-printable in any case. */
  #mustQuote = false;
  /** True when the body that is held is a text without a charset. */
  #needsCharset = false;
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
  /** Number of octets since the last cut of a long line. */
  #column = 0;
  /** Contiguous octets of the present piece that are treated alike. */
  #run: { from: number; to: number } | undefined;
  /** Pieces that leave next. */
  #leaving: Buffer[] = [];
  #headerBytes: number | undefined;
  #hasEnded = false;

  /** The header of the message itself is repaired already. */
  constructor(repair: Repair) {
    this.#repair = repair;
  }

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
    return this.#mode === 'pass' && this.#boundaries.length === 0 && this.#cutting === undefined;
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
        const mayLook = level.isLast || this.#mayLook();
        this.#mode = level.isLast || !mayLook ? 'pass' : 'header';
        this.#cutting = mayLook ? 'text' : undefined;
        this.#leaving.push(bytes.subarray(start, end));
        return;
      }
    }
    if (this.#mode === 'header') this.#readHeaderLine(bytes.subarray(start, end));
    else if (this.#isInLine || end - start > MAX_WHOLE_LINE_BYTES) this.#readLongLine(bytes, start, end);
    else this.#extendRun(start, end);
  }

  /** Reads a part of a long line. Each part ends where a piece does, and has more than 998 octets or follows one that has. */
  #readLongLine(bytes: Buffer, start: number, end: number): void {
    if (this.#mode === 'undecided') this.#mustQuote = true;
    if (this.#mode !== 'pass' || this.#cutting === undefined) {
      this.#extendRun(start, end);
      return;
    }
    this.#flush(bytes);
    if (!this.#isInLine) this.#column = 0;
    const { pieces, column } = cutLine(bytes.subarray(start, end), this.#cutting, this.#column);
    this.#leaving.push(...pieces);
    this.#column = column;
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
    const whole = Buffer.concat(this.#header);
    const part: PartKind = this.#mayLook() ? readPartKind(whole) : { kind: 'opaque' };
    const header = this.#isTop || this.#marks > MAX_MARKS ? whole : repairHeader(whole, this.#repair);
    this.#cutting = undefined;
    switch (part.kind) {
      case 'eight-bit':
      case 'undeclared':
        this.#header = [header];
        this.#mode = 'undecided';
        this.#mustQuote = part.kind === 'eight-bit';
        this.#needsCharset = part.needsCharset;
        return;
      case 'parts':
        if (part.boundary !== undefined) this.#boundaries.push(`--${part.boundary}`);
        this.#cutting = 'text';
        this.#leave(header, 'pass');
        return;
      case 'base64':
      case 'quoted-printable':
        this.#cutting = part.kind === 'base64' ? 'text' : 'quoted-printable';
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
    if (!this.#mustQuote && isAscii(octets) && this.#heldBytes <= MAX_UNDECIDED_BYTES) return;
    const body = Buffer.concat(this.#body.splice(0));
    const charset = this.#needsCharset ? guessCharset(body) : undefined;
    this.#leave(withQuotedPrintable(Buffer.concat(this.#header), { isTop: this.#isTop, charset }), 'quote');
    this.#quote(body);
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

/** The way in which a line is cut: by a line end, or by a soft line break. */
type Cutting = 'text' | 'quoted-printable';

/** Length at which a line is cut. The cut may move by a few octets, and stays below 998. */
const CUT_AT_OCTETS = 980;
/** Maximum number of octets by which a cut moves. */
const MAX_SHIFT_OCTETS = 12;
const CUTS: Readonly<Record<Cutting, Buffer>> = {
  text: Buffer.from('\r\n', 'latin1'),
  'quoted-printable': Buffer.from('=\r\n', 'latin1'),
};
const EQUALS = 0x3d;

/**
 * Returns a part of a long line in pieces with line ends between them. `column` is the number of octets of the line that stand before it since the
 * last cut, and is returned for the next part.
 */
function cutLine(octets: Buffer, cutting: Cutting, column: number): { pieces: Buffer[]; column: number } {
  const pieces: Buffer[] = [];
  let start = 0;
  let used = column;
  while (used + octets.length - start > CUT_AT_OCTETS + MAX_SHIFT_OCTETS) {
    const end = findCut(octets, Math.max(start, start + CUT_AT_OCTETS - used));
    pieces.push(octets.subarray(start, end), CUTS[cutting]);
    start = end;
    used = 0;
  }
  pieces.push(octets.subarray(start));
  return { pieces, column: used + octets.length - start };
}

/** Returns the next place where no escaped octet is cut, and where the next line does not begin like a boundary. */
function findCut(octets: Buffer, from: number): number {
  const last = Math.min(from + MAX_SHIFT_OCTETS, octets.length);
  for (let at = from; at < last; at++) {
    // The octets before the first two of a part are not known.
    const isEscaped = at < 2 || octets[at - 1] === EQUALS || octets[at - 2] === EQUALS;
    if (!isEscaped && octets[at] !== DASH) return at;
  }
  return last;
}
