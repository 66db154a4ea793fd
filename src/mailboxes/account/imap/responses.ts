/** Collects responses into chunks for the wire. Octets of messages are not copied before a chunk is made. */

/** Size of a chunk. Larger ones gain nothing, and clients wait longer for the first. */
const CHUNK_BYTES = 64 * 1024;
/** Number of characters of text that are turned into octets at once. */
const TEXT_CHARACTERS = 16 * 1024;

/** Octets that are read while they are sent. */
type Stream = AsyncGenerator<Buffer>;

export class Responses {
  #text = '';
  #pieces: (Buffer | Stream)[] = [];
  #bytes = 0;

  /** True when there is enough for a chunk. */
  get isFull(): boolean {
    return this.#bytes + this.#text.length >= CHUNK_BYTES;
  }

  /** Adds text, which is sent as UTF-8. */
  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= TEXT_CHARACTERS) this.#flushText();
  }

  addOctets(octets: Buffer): void {
    if (octets.length === 0) return;
    this.#flushText();
    this.#pieces.push(octets);
    this.#bytes += octets.length;
  }

  /** Adds octets that are sent before anything else is added. */
  addStream(stream: Stream): void {
    this.#flushText();
    this.#pieces.push(stream);
    this.#bytes += CHUNK_BYTES;
  }

  /** Yields all that was added. */
  async *take(): AsyncGenerator<Buffer> {
    this.#flushText();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    try {
      let small: Buffer[] = [];
      for (const piece of pieces) {
        if (Buffer.isBuffer(piece) && piece.length < CHUNK_BYTES) {
          small.push(piece);
          continue;
        }
        if (small.length > 0) yield Buffer.concat(small);
        small = [];
        if (Buffer.isBuffer(piece)) yield* cut(piece);
        else yield* piece;
      }
      if (small.length > 0) yield Buffer.concat(small);
    } finally {
      // A client that goes away leaves files open whose reading has begun.
      for (const piece of pieces) if (!Buffer.isBuffer(piece)) await piece.return(undefined);
    }
  }

  #flushText(): void {
    if (this.#text === '') return;
    const octets = Buffer.from(this.#text);
    this.#text = '';
    this.#pieces.push(octets);
    this.#bytes += octets.length;
  }
}

function* cut(octets: Buffer): Generator<Buffer> {
  for (let from = 0; from < octets.length; from += CHUNK_BYTES)
    yield octets.subarray(from, from + CHUNK_BYTES);
}
