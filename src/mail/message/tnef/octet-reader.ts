/** Reads numbers and octets one after the other. All of it throws a TruncatedError behind the end of the octets, except `skip`. */

/** Reports octets that end before a value does. */
class TruncatedError extends Error {
  override readonly name = 'TruncatedError';
}

export class OctetReader {
  readonly #octets: Buffer;
  #at = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  get left(): number {
    return this.#octets.length - this.#at;
  }

  u8(): number {
    return this.take(1).readUInt8();
  }

  u16(): number {
    return this.take(2).readUInt16LE();
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  /** Returns the next octets. They share the memory of the whole. */
  take(length: number): Buffer {
    if (length > this.left) throw new TruncatedError('the octets end too early');
    this.#at += length;
    return this.#octets.subarray(this.#at - length, this.#at);
  }

  /** Passes over octets, of which some may be missing at the end. */
  skip(length: number): void {
    this.#at = Math.min(this.#octets.length, this.#at + length);
  }
}
