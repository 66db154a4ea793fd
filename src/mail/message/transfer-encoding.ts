/**
 * Undoes the transfer encoding of a part (RFC 2045 section 6), in linear time and whatever a stranger wrote: at once, or while its octets
 * are read, so that a large part is never in memory as a whole. The result is the same, however the octets are cut into pieces.
 */

import { CR, EQUALS, LF, SPACE, TAB } from '../octets.ts';

/** Encodings that change nothing (RFC 2045 section 6.2). */
const IDENTITIES: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/** Returns true for an encoding that leaves the octets as they are. Its name is in lower case. */
export function isIdentityEncoding(encoding: string): boolean {
  return IDENTITIES.has(encoding);
}

/** Returns the decoded octets; undefined when the encoding, in lower case, is unknown. */
export function decodeTransfer(octets: Buffer, encoding: string): Buffer | undefined {
  if (isIdentityEncoding(encoding)) return octets;
  if (encoding === 'base64') return decodeBase64(octets);
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(octets);
  return undefined;
}

/**
 * Ignores characters outside of the alphabet. Padding ends the body (RFC 2045 section 6.8): mailing lists add lines of clear text behind it.
 */
function decodeBase64(octets: Buffer): Buffer {
  const padding = octets.indexOf(EQUALS);
  return Buffer.from(octets.toString('latin1', 0, padding < 0 ? octets.length : padding), 'base64');
}

/** Drops white space at the end of lines, and keeps what is not an encoded octet (RFC 2045 section 6.7). */
function decodeQuotedPrintable(octets: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(octets.length);
  let length = 0;
  let lineEnd = 0;
  for (let at = 0; at < octets.length; ) {
    const octet = octets[at] as number;
    if (octet === SPACE || octet === TAB) {
      const next = afterSpaces(octets, at);
      if (next === octets.length || isLineEnd(octets, next)) at = next;
      else while (at < next) decoded[length++] = octets[at++] as number;
      continue;
    }
    if (octet !== EQUALS) {
      decoded[length++] = octet;
      at++;
      continue;
    }
    const value = hexValue(octets, at + 1);
    lineEnd = afterSpaces(octets, at + 1);
    if (value >= 0) {
      decoded[length++] = value;
      at += 3;
    } else if (lineEnd === octets.length || isLineEnd(octets, lineEnd)) {
      at = lineEnd + (octets[lineEnd] === CR ? 2 : 1);
    } else {
      decoded[length++] = octet;
      at++;
    }
  }
  return decoded.subarray(0, length);
}

function afterSpaces(octets: Buffer, from: number): number {
  let at = from;
  while (octets[at] === SPACE || octets[at] === TAB) at++;
  return at;
}

function isLineEnd(octets: Buffer, at: number): boolean {
  return octets[at] === LF || (octets[at] === CR && octets[at + 1] === LF);
}

/** Returns the value of two hexadecimal digits; -1 when there are none. */
function hexValue(octets: Buffer, at: number): number {
  const high = digitValue(octets[at]);
  const low = digitValue(octets[at + 1]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

/** Small letters are not allowed, but some mailers write them. */
function digitValue(octet = 0): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  const letter = octet & ~0x20;
  return letter >= 0x41 && letter <= 0x46 ? letter - 0x37 : -1;
}

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
