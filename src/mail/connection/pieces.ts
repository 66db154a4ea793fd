/**
 * Octets that arrive in pieces. A client can send each octet in a TLS record of its own, and each piece costs several hundred octets of
 * memory for as long as it is held apart, so what holds octets until they are complete puts small pieces together.
 */

/** Number of pieces that are held apart. */
const MAX_PIECES = 512;
/** Size from which octets of a message are passed on: smaller pieces, of which a message has many, are put together. */
export const MIN_PASSED_BYTES = 4 * 1024;

/** Octets that are held until they are complete. */
export class Pieces {
  sizeBytes = 0;
  #pieces: Buffer[] = [];

  add(piece: Buffer): void {
    this.sizeBytes += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length > MAX_PIECES) this.join();
  }

  /** Returns all octets, which are not copied when they came in one piece. */
  join(): Buffer {
    const [first, ...more] = this.#pieces;
    const bytes = first && more.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [bytes];
    return bytes;
  }
}

/**
 * Returns the next octets of a message, which are at least `MIN_PASSED_BYTES` unless they are its last ones; undefined at its end.
 * @param read returns the next piece, which may be empty; undefined at the end of the message
 */
export async function readTogether(read: () => Promise<Buffer | undefined>): Promise<Buffer | undefined> {
  const pieces = new Pieces();
  while (pieces.sizeBytes < MIN_PASSED_BYTES) {
    const piece = await read();
    if (piece === undefined) break;
    if (piece.length > 0) pieces.add(piece);
  }
  return pieces.sizeBytes > 0 ? pieces.join() : undefined;
}

/**
 * Node allocates small buffers in slabs of 64 KiB, and a slab lives as long as any buffer in it. So octets that a connection holds while it
 * waits are copied out of their slab.
 */

/** Returns a copy that has memory of its own. */
export function unpooled(octets: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(octets.length);
  copy.set(octets);
  return copy;
}
