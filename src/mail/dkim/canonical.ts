/**
 * The relaxed canonical forms of RFC 6376 3.4. Bodies are scanned byte by byte in slices, so that a message of 25 MB
 * holds up nothing else; header fields are small and handled as text.
 */
import { createHash, type Hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Between two slices other work gets its turn. */
const SLICE_BYTES = 512 * 1024;
const OUTPUT_BYTES = 16 * 1024;
/** One step writes at most a line end, a space and a byte. */
const MARGIN_BYTES = 8;

/** RFC 6376 3.4.2 of one field, given with or without its CRLF; the result has none. */
export function relaxedField(field: string): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon).trimEnd().toLowerCase();
  const value = field.slice(colon + 1).replaceAll('\r\n', '');
  return `${name}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`;
}

/** SHA-256, in base64, of the body's relaxed form (RFC 6376 3.4.4). */
export async function relaxedBodyHash(body: Uint8Array): Promise<string> {
  const canonicalizer = new BodyCanonicalizer(body.length);
  for (let start = 0; start < body.length; start += SLICE_BYTES) {
    if (start > 0) await turn();
    canonicalizer.update(body.subarray(start, start + SLICE_BYTES));
  }
  return canonicalizer.finish();
}

/**
 * Writes only what is known to stay: line ends are held back until another byte follows (empty lines at the end are
 * ignored), and white space until it is known not to end a line.
 */
class BodyCanonicalizer {
  readonly #hash: Hash = createHash('sha256');
  readonly #output: Buffer;
  #used = 0;
  #lineEnds = 0;
  #space = false;
  #carriageReturn = false;
  #empty = true;

  constructor(bodyBytes: number) {
    this.#output = Buffer.allocUnsafe(Math.min(OUTPUT_BYTES, bodyBytes) + MARGIN_BYTES);
  }

  update(slice: Uint8Array): void {
    const output = this.#output;
    const full = output.length - MARGIN_BYTES;
    let used = this.#used;
    let lineEnds = this.#lineEnds;
    let space = this.#space;
    let carriageReturn = this.#carriageReturn;
    for (let index = 0; index < slice.length; index++) {
      const byte = slice[index] as number;
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
      for (; lineEnds > 0; lineEnds--) {
        if (used >= full) used = this.#flush(used);
        output[used++] = CR;
        output[used++] = LF;
      }
      if (used >= full) used = this.#flush(used);
      if (space) output[used++] = SPACE;
      space = false;
      // A CR that no LF follows is a byte like others; what came now is looked at again.
      if (carriageReturn) {
        output[used++] = CR;
        carriageReturn = false;
        index--;
      } else {
        output[used++] = byte;
      }
    }
    this.#used = used;
    this.#lineEnds = lineEnds;
    this.#space = space;
    this.#carriageReturn = carriageReturn;
  }

  /** A body that is not empty ends with exactly one CRLF, also where the message has none. */
  finish(): string {
    if (this.#carriageReturn) this.update(Buffer.from('\r'));
    this.#flush(this.#used);
    if (!this.#empty) this.#hash.update('\r\n');
    return this.#hash.digest('base64');
  }

  #flush(used: number): number {
    if (used > 0) {
      this.#hash.update(this.#output.subarray(0, used));
      this.#empty = false;
    }
    return 0;
  }
}
