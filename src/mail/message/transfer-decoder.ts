/**
 * Undoes the transfer encoding of a part while its octets are read, so that a large part is never in memory as a whole. The result is that
 * of `decodeTransfer`, however the octets are cut into pieces.
 */
import { CR, EQUALS, LF, SPACE, TAB } from '../octets.ts';
import { decodeTransfer, isIdentityEncoding, MAX_ENCODED_TEXTS } from './transfer-encoding.ts';

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

/** Four characters are three octets. */
class Base64Decoder implements TransferDecoder {
  #waiting = '';
  #isInPadding = false;
  #texts = 1;

  next(octets: Buffer): Buffer {
    const decoded: Buffer[] = [];
    for (let at = 0; at < octets.length && this.#texts <= MAX_ENCODED_TEXTS; ) {
      if (octets[at] === EQUALS) {
        if (!this.#isInPadding) decoded.push(this.end());
        this.#isInPadding = true;
        at++;
        continue;
      }
      if (this.#isInPadding) this.#texts++;
      this.#isInPadding = false;
      if (this.#texts > MAX_ENCODED_TEXTS) break;
      const padding = octets.indexOf(EQUALS, at);
      const end = padding < 0 ? octets.length : padding;
      const text = this.#waiting + octets.toString('latin1', at, end).replace(/[^A-Za-z0-9+/_-]+/g, '');
      const complete = text.length - (text.length % 4);
      decoded.push(Buffer.from(text.slice(0, complete), 'base64'));
      this.#waiting = text.slice(complete);
      at = end;
    }
    return Buffer.concat(decoded);
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
