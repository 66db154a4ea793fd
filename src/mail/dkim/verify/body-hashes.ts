/**
 * Hashes the body of a message while it comes in, once for each canonical form that its signatures use. That of the simple form (RFC 6376
 * section 3.4.3) is here.
 */
import { createHash, type Hash } from 'node:crypto';
import { CR, LF } from '../../octets.ts';
import { type BodyHash, createBodyHash } from '../body-hash.ts';
import type { Canonicalization } from './signature.ts';

/** `hash` is in base64, `bytes` the size of the canonical body. */
type HashedBody = { hash: string; bytes: number };
export type BodyHashes = { readonly [Form in Canonicalization]?: HashedBody };

/** Takes a body with CRLF line ends, in pieces that are cut anywhere. */
export class BodyHasher {
  readonly #hashes: readonly (readonly [Canonicalization, BodyHash])[];

  /** Signatures of other forms than these cannot be verified. */
  constructor(forms: ReadonlySet<Canonicalization>) {
    this.#hashes = [...forms].map((form) => [
      form,
      form === 'relaxed' ? createBodyHash() : createSimpleBodyHash(),
    ]);
  }

  update(piece: Uint8Array): void {
    for (const [, hash] of this.#hashes) hash.update(piece);
  }

  /** Returns the hashes. The caller calls it once, at the end. */
  finish(): BodyHashes {
    return Object.fromEntries(
      this.#hashes.map(([form, hash]) => [form, { hash: hash.digest(), bytes: hash.bytes }]),
    );
  }
}

/** Number of line ends that are hashed together. */
const LINE_ENDS_AT_ONCE = 2 * 1024;
const LINE_ENDS = Buffer.from('\r\n'.repeat(LINE_ENDS_AT_ONCE), 'latin1');

/** Returns a hash of an empty body. */
export function createSimpleBodyHash(): BodyHash {
  return new SimpleBodyHash();
}

/** Holds back line ends until another byte follows, since empty lines at the end are ignored. */
class SimpleBodyHash implements BodyHash {
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;
  #lineEnds = 0;
  /** True after a CR that begins a line end if an LF follows it. */
  #carriageReturn = false;

  get bytes(): number {
    return this.#bytes;
  }

  update(piece: Uint8Array): void {
    const start = this.#holdLineEnds(piece);
    if (start === piece.length) return;
    this.#writeHeld();
    let end = piece.length;
    if (piece[end - 1] === CR) {
      this.#carriageReturn = true;
      end--;
    }
    while (end - 2 >= start && piece[end - 2] === CR && piece[end - 1] === LF) {
      this.#lineEnds++;
      end -= 2;
    }
    this.#write(piece.subarray(start, end));
  }

  digest(): string {
    if (this.#carriageReturn) this.#writeHeld();
    // A body ends with exactly one CRLF, and an empty one is a CRLF (RFC 6376 section 3.4.3).
    this.#write(LINE_ENDS.subarray(0, 2));
    return this.#hash.digest('base64');
  }

  /** Holds back the line ends at the start of a piece. Returns their size in bytes. */
  #holdLineEnds(piece: Uint8Array): number {
    let at = 0;
    while (at < piece.length && piece[at] === (this.#carriageReturn ? LF : CR)) {
      if (this.#carriageReturn) this.#lineEnds++;
      this.#carriageReturn = !this.#carriageReturn;
      at++;
    }
    return at;
  }

  /** Writes the bytes that were held back, which are inside the body. */
  #writeHeld(): void {
    for (; this.#lineEnds > 0; this.#lineEnds -= LINE_ENDS_AT_ONCE) {
      this.#write(LINE_ENDS.subarray(0, 2 * Math.min(this.#lineEnds, LINE_ENDS_AT_ONCE)));
    }
    this.#lineEnds = 0;
    if (this.#carriageReturn) this.#write(LINE_ENDS.subarray(0, 1));
    this.#carriageReturn = false;
  }

  #write(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }
}
