/** Hashes the body of a message while it comes in, once for each canonical form that its signatures use. */
import { type BodyHash, createBodyHash } from '../body-hash.ts';
import type { Canonicalization } from './signature.ts';
import { createSimpleBodyHash } from './simple-body-hash.ts';

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
