/** Collects responses into chunks for the wire. Octets of messages are not copied before a chunk is taken. */

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
