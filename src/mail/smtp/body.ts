/**
 * The form of a message on the wire: its line ends are checked and its leading dots doubled, in one pass over its bytes.
 */
import { doubleDots } from '../double-dots.ts';
import { CR, DOT, LF } from '../octets.ts';

/**
 * Encodes a message that arrives in chunks, which may be cut anywhere. The time for a byte does not depend on the text:
 * a message of empty lines takes as long as any other.
 */
export class WireEncoder {
  #endsWithCr = false;
  /** The message begins at the start of a line. */
  #isAtLineStart = true;

  /**
   * Returns a chunk with a second dot before each line that begins with one (RFC 5321 section 4.5.2). A chunk without such a line
   * is returned unchanged, not copied. Returns undefined for a CR or LF outside CRLF (RFC 5321 section 2.3.8), because it lets an
   * attacker smuggle mail: some servers end the message at a bare LF and a dot. The result of any later call then means
   * nothing.
   */
  next(chunk: Buffer): Buffer | undefined {
    if (chunk.length === 0) return chunk;
    if (this.#endsWithCr && chunk[0] !== LF) return undefined;
    const start = this.#endsWithCr ? 1 : 0;
    const isLineStart = this.#endsWithCr || this.#isAtLineStart;
    const dots = countLeadingDots(chunk, start, isLineStart);
    if (dots === undefined) return undefined;
    this.#endsWithCr = chunk.at(-1) === CR;
    this.#isAtLineStart = chunk.at(-1) === LF;
    return dots === 0 ? chunk : doubleDots(chunk, { dots, isLineStart: start === 0 && isLineStart });
  }

  /**
   * Returns what follows the message: the CRLF that its last line may lack, and the dot (RFC 5321 section 4.1.1.4). Returns
   * undefined when the message ends between CR and LF.
   */
  end(): string | undefined {
    if (this.#endsWithCr) return undefined;
    return this.#isAtLineStart ? '.\r\n' : '\r\n.\r\n';
  }
}

/** A whole message as it is sent: its bytes, and what follows them. */
type WireForm = { bytes: Buffer; end: string };

/**
 * Minimum size of a message whose wire form is remembered, in bytes. A smaller one takes a few microseconds, while an entry of a WeakMap
 * keeps its value through the next scavenges.
 */
const MIN_REMEMBERED_BYTES = 16 * 1024;

const wireForms = new WeakMap<Uint8Array, WireForm | 'malformed'>();

/**
 * Returns a whole message as it is sent; undefined when it has a CR or LF outside CRLF. The result for a message of some size is kept
 * for as long as the message is in memory, because a message goes to the sites of all its recipients. The bytes must not change.
 */
export function wireFormOf(message: Uint8Array): WireForm | undefined {
  const form = message.length < MIN_REMEMBERED_BYTES ? encodeWhole(message) : rememberedFormOf(message);
  return form === 'malformed' ? undefined : form;
}

function rememberedFormOf(message: Uint8Array): WireForm | 'malformed' {
  const known = wireForms.get(message) ?? encodeWhole(message);
  wireForms.set(message, known);
  return known;
}

function encodeWhole(message: Uint8Array): WireForm | 'malformed' {
  const encoder = new WireEncoder();
  const bytes = encoder.next(asBuffer(message));
  const end = encoder.end();
  return bytes === undefined || end === undefined ? 'malformed' : { bytes, end };
}

/**
 * Returns the number of lines that begin with a dot, or undefined for a CR or LF outside CRLF. The last byte may be a CR.
 */
function countLeadingDots(bytes: Buffer, start: number, isLineStart: boolean): number | undefined {
  const { length } = bytes;
  let dots = isLineStart && bytes[start] === DOT ? 1 : 0;
  for (let at = start; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte > CR) continue;
    if (byte === LF) return undefined;
    if (byte !== CR || at + 1 === length) continue;
    if (bytes[++at] !== LF) return undefined;
    if (bytes[at + 1] === DOT) dots++;
  }
  return dots;
}

/** Views the bytes as a Buffer without copying them. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
