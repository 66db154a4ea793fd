/**
 * Reads a message that comes in: keeps its header and hashes its body. Its lines end with CRLF, as they are stored: if a bare LF
 * ended a line for one reader only, a stored field could be outside of all signatures.
 */

import { BodyHasher, type BodyHashes } from '../dkim/verify/body-hashes.ts';
import { fieldValue, splitFields } from '../dkim/verify/header-fields.ts';
import { type Canonicalization, namedBodyCanonicalization } from '../dkim/verify/signature.ts';
import { MAX_HEADER_BYTES } from '../header-limits.ts';
import { asBuffer } from '../smtp/body.ts';

/** Maximum number of signature fields whose canonical form is read: all that are verified are among them. */
const MAX_SIGNATURE_FIELDS = 2_000;
const SIGNATURE_NAMES: readonly string[] = ['dkim-signature', 'arc-message-signature'];
const SIGNATURE_FIELD = /dkim-signature|arc-message-signature/i;
const LINE_END = Buffer.from('\r\n', 'latin1');
const HEADER_END = Buffer.from('\r\n\r\n', 'latin1');

type ReadMessage = {
  /** The header with the empty line after it; undefined when it is too long, or did not fit into memory. */
  header: Buffer | undefined;
  bodyHashes: BodyHashes;
};

/** Takes the pieces of one message, whose lines end with CRLF. They are cut anywhere. */
export class MessageReader {
  readonly #reserve: (bytes: number) => boolean;
  #header: Buffer = Buffer.alloc(0);
  #headerBytes = 0;
  #state: 'header' | 'body' | 'unreadable' = 'header';
  #body: BodyHasher | undefined;

  /** `reserve` is called before memory for the header is taken, with its size in bytes. */
  constructor(reserve: (bytes: number) => boolean) {
    this.#reserve = reserve;
  }

  write(piece: Uint8Array): void {
    const isIgnored = this.#state === 'unreadable' || (this.#state === 'body' && !this.#body);
    if (isIgnored || piece.length === 0) return;
    const text = asBuffer(piece);
    if (this.#state === 'body') this.#body?.update(text);
    else this.#takeHeader(text);
  }

  /** Returns what was read. The caller calls it once, at the end. */
  finish(): ReadMessage {
    if (this.#state === 'header') this.#beginBody();
    if (this.#state === 'unreadable') return { header: undefined, bodyHashes: {} };
    return { header: this.#header.subarray(0, this.#headerBytes), bodyHashes: this.#body?.finish() ?? {} };
  }

  #takeHeader(text: Buffer): void {
    const end = this.#findEnd(text);
    if (!this.#append(text.subarray(0, end))) {
      this.#state = 'unreadable';
      this.#header = Buffer.alloc(0);
      return;
    }
    if (end === undefined) return;
    this.#beginBody();
    this.#body?.update(text.subarray(end));
  }

  /** Returns the offset of the body in a piece: what follows the empty line. A message may begin with its empty line. */
  #findEnd(text: Buffer): number | undefined {
    const from = Math.max(this.#headerBytes - HEADER_END.length + 1, 0);
    const before = this.#headerBytes === 0 ? LINE_END : this.#header.subarray(from, this.#headerBytes);
    const overlap = Buffer.concat([before, text.subarray(0, HEADER_END.length - 1)]).indexOf(HEADER_END);
    if (overlap >= 0) return overlap + HEADER_END.length - before.length;
    const found = text.indexOf(HEADER_END);
    return found < 0 ? undefined : found + HEADER_END.length;
  }

  /** Adds to the header. Returns false when it becomes too long. */
  #append(text: Buffer): boolean {
    const bytes = this.#headerBytes + text.length;
    if (bytes > MAX_HEADER_BYTES) return false;
    if (bytes > this.#header.length) {
      const newBytes = Math.min(Math.max(bytes, 2 * this.#header.length), MAX_HEADER_BYTES);
      if (!this.#reserve(newBytes - this.#header.length)) return false;
      const larger = Buffer.allocUnsafeSlow(newBytes);
      this.#header.copy(larger, 0, 0, this.#headerBytes);
      this.#header = larger;
    }
    text.copy(this.#header, this.#headerBytes);
    this.#headerBytes = bytes;
    return true;
  }

  #beginBody(): void {
    this.#state = 'body';
    const forms = usedForms(this.#header.toString('latin1', 0, this.#headerBytes));
    if (forms.size > 0) this.#body = new BodyHasher(forms);
  }
}

/** Returns the canonical forms of the body that the signatures in a header use. */
function usedForms(header: string): Set<Canonicalization> {
  if (!SIGNATURE_FIELD.test(header)) return new Set();
  const signatures = splitFields(header).filter(({ name }) => SIGNATURE_NAMES.includes(name));
  return new Set(
    signatures.slice(0, MAX_SIGNATURE_FIELDS).map((field) => namedBodyCanonicalization(fieldValue(field))),
  );
}
