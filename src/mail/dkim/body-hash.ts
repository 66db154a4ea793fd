/**
 * Hashes a message's body in its relaxed canonical form (RFC 6376 section 3.4.4), from pieces that are cut at any
 * position. Runs of bytes that are canonical already are hashed without a copy; only white space is processed byte by
 * byte.
 */

import { createHash, type Hash } from 'node:crypto';
import { CR, LF, SPACE, TAB } from '../octets.ts';

export type BodyHash = {
  update(chunk: Uint8Array): void;
  /**
   * Returns the SHA-256 hash in base64, the value of `bh=` (RFC 6376 section 3.5). The caller calls it once, at the
   * end.
   */
  digest(): string;
  /** Size of the canonical body; all of it after `digest`. */
  readonly bytes: number;
};

/**
 * Number of bytes that are processed together. A run that needs changes is copied at most to the end of its window.
 */
const WINDOW_BYTES = 4 * 1024;
/**
 * Minimum length of a run that is hashed without a copy: a call of the hash costs as much as copying this many bytes.
 */
const DIRECT_BYTES = 512;
/** Maximum number of empty lines that are held back in case they end the body. */
const HELD_LINE_ENDS = 2 * 1024;
const LINE_ENDS = Buffer.from('\r\n'.repeat(HELD_LINE_ENDS), 'latin1');
/** Maximum number of line ends that are written byte by byte. More are written from `LINE_ENDS`. */
const FEW_LINE_ENDS = 8;
/**
 * Size of the output: a window is never longer after copying, apart from what was held back before it (line ends, a
 * space, a CR).
 */
const OUTPUT_BYTES = WINDOW_BYTES + 2 * FEW_LINE_ENDS + 2;
/** One buffer for all bodies. Nothing stays in it between two updates. */
const output = Buffer.allocUnsafeSlow(OUTPUT_BYTES);

/** Returns a hash of an empty body. */
export function createBodyHash(): BodyHash {
  return new RelaxedBodyHash();
}

/**
 * Holds back whatever may still be dropped: line ends until another byte follows (empty lines at the end are
 * ignored), and white space until it is known not to end a line.
 */
class RelaxedBodyHash implements BodyHash {
  #hash: Hash = createHash('sha256');
  #used = 0;
  #lineEnds = 0;
  #space = false;
  #carriageReturn = false;
  #isEmpty = true;
  /** The hash before the current run of line ends, once the run is so long that most of it was hashed already. */
  #beforeLineEnds: { hash: Hash; bytes: number } | undefined;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  update(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; start += WINDOW_BYTES) {
      this.#takeWindow(chunk, start, Math.min(start + WINDOW_BYTES, chunk.length));
    }
    this.#flush();
  }

  /** Finishes the hash. A body that is not empty ends with exactly one CRLF, even if the message has none. */
  digest(): string {
    // A CR at the very end counts as an ordinary byte. Feeding another CR makes the class write the one that it holds
    // back.
    if (this.#carriageReturn) this.update(LINE_ENDS.subarray(0, 1));
    if (this.#beforeLineEnds) {
      this.#hash = this.#beforeLineEnds.hash;
      this.#bytes = this.#beforeLineEnds.bytes;
    }
    if (!this.#isEmpty) this.#write(LINE_ENDS.subarray(0, 2));
    return this.#hash.digest('base64');
  }

  #takeWindow(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    if (this.#lineEnds > 0 || this.#space || this.#carriageReturn || this.#beforeLineEnds) {
      while (at < end && (bytes[at] as number) <= SPACE) at++;
      at = Math.min(at + 1, end);
      this.#copy(bytes, start, at);
    }
    const canonicalTo = canonicalEnd(bytes, at, end);
    if (canonicalTo - at >= DIRECT_BYTES) {
      this.#flush();
      this.#write(bytes.subarray(at, canonicalTo));
      this.#isEmpty = false;
      at = canonicalTo;
    }
    this.#copy(bytes, at, end);
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    if (this.#used + (end - start) > WINDOW_BYTES) this.#flush();
    let used = this.#used;
    let lineEnds = this.#lineEnds;
    let space = this.#space;
    let carriageReturn = this.#carriageReturn;
    let writesFew = this.#beforeLineEnds === undefined ? FEW_LINE_ENDS : -1;
    for (let index = start; index < end; index++) {
      const byte = bytes[index] as number;
      if (byte === LF && carriageReturn) {
        carriageReturn = false;
        space = false;
        lineEnds++;
        continue;
      }
      if (byte === CR && !carriageReturn) {
        carriageReturn = true;
        continue;
      }
      if ((byte === SPACE || byte === TAB) && !carriageReturn) {
        space = true;
        continue;
      }
      if (lineEnds > writesFew) {
        this.#used = used;
        this.#writeLineEnds(lineEnds);
        used = 0;
        lineEnds = 0;
        writesFew = FEW_LINE_ENDS;
      }
      for (; lineEnds > 0; lineEnds--) {
        output[used++] = CR;
        output[used++] = LF;
      }
      if (space) output[used++] = SPACE;
      space = false;
      // A CR without a following LF counts as an ordinary byte, so the current byte is processed again.
      if (carriageReturn) {
        output[used++] = CR;
        carriageReturn = false;
        index--;
      } else {
        output[used++] = byte;
        while (index + 1 < end && (bytes[index + 1] as number) > SPACE) {
          output[used++] = bytes[++index] as number;
        }
      }
    }
    if (used > 0) this.#isEmpty = false;
    this.#used = used;
    this.#lineEnds = lineEnds;
    this.#space = space;
    this.#carriageReturn = carriageReturn;
    if (lineEnds >= HELD_LINE_ENDS) this.#trustLineEnds();
  }

  /**
   * Hashes held-back empty lines early and keeps the hash before them. Otherwise an unlimited number of them would be
   * hashed at once when they turn out to be inside the body.
   */
  #trustLineEnds(): void {
    if (!this.#beforeLineEnds) {
      this.#flush();
      this.#beforeLineEnds = { hash: this.#hash.copy(), bytes: this.#bytes };
    }
    while (this.#lineEnds >= HELD_LINE_ENDS) {
      this.#write(LINE_ENDS);
      this.#lineEnds -= HELD_LINE_ENDS;
    }
  }

  /** Writes the held-back line ends, which are inside the body. */
  #writeLineEnds(count: number): void {
    if (!this.#beforeLineEnds) this.#flush();
    this.#beforeLineEnds = undefined;
    this.#used = 0;
    let left = count;
    for (; left > HELD_LINE_ENDS; left -= HELD_LINE_ENDS) this.#write(LINE_ENDS);
    this.#write(LINE_ENDS.subarray(0, 2 * left));
  }

  #flush(): void {
    if (this.#used > 0) this.#write(output.subarray(0, this.#used));
    this.#used = 0;
  }

  #write(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }
}

/**
 * Returns the end of the longest run from `start` that is canonical whatever follows it: it contains no tab, no two
 * adjacent spaces and no space before a CR, and does not end with white space or a line end.
 */
function canonicalEnd(bytes: Uint8Array, start: number, limit: number): number {
  let end = start;
  let previous = 0;
  for (let index = start; index < limit; index++) {
    const byte = bytes[index] as number;
    if (byte > SPACE) end = index + 1;
    else if (byte === TAB || (previous === SPACE && (byte === SPACE || byte === CR))) return end;
    previous = byte;
  }
  return end;
}
