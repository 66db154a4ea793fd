/** Collects responses into chunks for the wire. Octets of messages are not copied before a chunk is taken. */
import type { Refusal } from '../../mail/imap/session.ts';

/** Size of a chunk. Larger ones gain nothing, and clients wait longer for the first. */
const CHUNK_BYTES = 64 * 1024;
/** Empty chunk. Long work yields it where it can be ended (`Chunks` of mail/imap/session.ts). */
export const NOTHING_YET = Buffer.alloc(0);
/** Number of characters of text that are turned into octets at once. */
const TEXT_CHARACTERS = 16 * 1024;

export class Responses {
  #text = '';
  #pieces: Buffer[] = [];
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes + this.#text.length >= CHUNK_BYTES;
  }

  /** Adds text, which is sent as UTF-8. */
  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= TEXT_CHARACTERS) this.#flushText();
  }

  /** Adds text and octets, in their order. */
  addPieces(pieces: Iterable<string | Buffer>): void {
    for (const piece of pieces) {
      if (typeof piece === 'string') this.add(piece);
      else this.#addOctets(piece);
    }
  }

  #addOctets(octets: Buffer): void {
    if (octets.length === 0) return;
    this.#flushText();
    this.#pieces.push(octets);
    this.#bytes += octets.length;
  }

  /** Returns a function that takes back what is added from now on, until something is taken. */
  mark(): () => void {
    const [text, pieces, bytes] = [this.#text, this.#pieces.length, this.#bytes];
    return () => {
      this.#text = text;
      this.#pieces.length = pieces;
      this.#bytes = bytes;
    };
  }

  /** Returns all that was added, in chunks. A chunk that is alone in its memory is a copy, because the wire takes that memory. */
  take(): Buffer[] {
    this.#flushText();
    const chunks: Buffer[] = [];
    let small: Buffer[] = [];
    const join = (): void => {
      if (small.length > 0) chunks.push(Buffer.concat(small));
      small = [];
    };
    for (const piece of this.#pieces) {
      if (piece.length <= CHUNK_BYTES) small.push(piece);
      else join();
      for (let from = 0; from < piece.length && piece.length > CHUNK_BYTES; from += CHUNK_BYTES)
        chunks.push(piece.subarray(from, from + CHUNK_BYTES));
    }
    join();
    this.#pieces = [];
    this.#bytes = 0;
    return chunks;
  }

  #flushText(): void {
    if (this.#text === '') return;
    const octets = Buffer.from(this.#text);
    this.#text = '';
    this.#pieces.push(octets);
    this.#bytes += octets.length;
  }
}

/** Refusals of IMAP commands that several methods of a session give. */

/** Returns the refusal of a sequence number that does not exist. */
export function outOfRange(): Refusal {
  return { refused: 'BAD', text: 'A sequence number does not exist' };
}

/** Returns the refusal of a mailbox that does not exist. */
export function missingMailbox(): Refusal {
  return { refused: 'NO', code: 'NONEXISTENT', text: 'The mailbox does not exist' };
}

/** Returns the refusal of a target that does not exist, which the client may create (RFC 9051 section 7.1). */
export function missingTarget(): Refusal {
  return { refused: 'NO', code: 'TRYCREATE', text: 'The mailbox does not exist' };
}

/** Returns the refusal of messages that exceed the quota of the account (RFC 9208 section 4.3.1). */
export function overQuota(): Refusal {
  return { refused: 'NO', code: 'OVERQUOTA', text: 'The account has no room for the messages' };
}
