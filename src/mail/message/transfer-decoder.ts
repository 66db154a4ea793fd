/**
 * Undoes the transfer encoding of a part while its octets are read, so that a large part is never in memory as a whole. The result is that
 * of `decodeTransfer`, however the octets are cut into pieces.
 */
import { CR, EQUALS, LF, SPACE, TAB } from '../octets.ts';
import { decodeTransfer, isIdentityEncoding } from './transfer-encoding.ts';

type TransferDecoder = {
  /** Returns what can be decoded with the next octets. */
  next(octets: Buffer): Buffer;
  /** Returns what is left at the end. */
  end(): Buffer;
};

const NOTHING = Buffer.alloc(0);
/** Maximum number of octets of a line of quoted-printable that wait for its end. Lines have at most 76 (RFC 2045 section 6.7). */
const MAX_LINE_OCTETS = 64 * 1024;

/** Returns a decoder; undefined when the encoding, in lower case, is unknown. */
export function createTransferDecoder(encoding: string): TransferDecoder | undefined {
  if (isIdentityEncoding(encoding)) return { next: (octets) => octets, end: () => NOTHING };
  if (encoding === 'base64') return new Base64Decoder();
  if (encoding === 'quoted-printable') return new QuotedPrintableDecoder();
  return undefined;
}

/** Four characters are three octets. Padding ends the body (RFC 2045 section 6.8). */
class Base64Decoder implements TransferDecoder {
  #waiting = '';
  #isAtEnd = false;

  next(octets: Buffer): Buffer {
    if (this.#isAtEnd) return NOTHING;
    const padding = octets.indexOf(EQUALS);
    this.#isAtEnd = padding >= 0;
    const end = this.#isAtEnd ? padding : octets.length;
    const text = this.#waiting + octets.toString('latin1', 0, end).replace(/[^A-Za-z0-9+/_-]+/g, '');
    const complete = text.length - (text.length % 4);
    this.#waiting = text.slice(complete);
    return Buffer.from(text.slice(0, complete), 'base64');
  }

  end(): Buffer {
    const decoded = Buffer.from(this.#waiting, 'base64');
    this.#waiting = '';
    return decoded;
  }
}

/** Nothing in a line depends on another line. */
class QuotedPrintableDecoder implements TransferDecoder {
  #waiting: Buffer = NOTHING;

  next(octets: Buffer): Buffer {
    const text = Buffer.concat([this.#waiting, octets]);
    let end = text.lastIndexOf(LF) + 1;
    if (text.length - end > MAX_LINE_OCTETS) end = Math.max(end, lastCut(text));
    this.#waiting = Buffer.from(text.subarray(end));
    return decode(text.subarray(0, end));
  }

  end(): Buffer {
    const decoded = decode(this.#waiting);
    this.#waiting = NOTHING;
    return decoded;
  }
}

function decode(text: Buffer): Buffer {
  return decodeTransfer(text, 'quoted-printable') ?? NOTHING;
}

/** Returns the last place in a line behind a character that does not depend on what follows it. */
function lastCut(text: Buffer): number {
  let end = text.length;
  while (end > 0 && (dependsOnNext(text[end - 1]) || text[end - 2] === EQUALS)) end--;
  return end;
}

function dependsOnNext(octet: number | undefined): boolean {
  return octet === SPACE || octet === TAB || octet === CR || octet === EQUALS;
}
