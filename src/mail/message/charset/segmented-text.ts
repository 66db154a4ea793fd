/**
 * Collects the text of a charset whose characters stand in the tables of several encodings. Octets of one encoding are decoded together,
 * because each call of a decoder costs more than some characters.
 */

/** Maximum number of octets of a character in the encodings that are used. */
const MAX_CHARACTER_OCTETS = 3;

const decoders = new Map<string, TextDecoder>();

export class SegmentedText {
  readonly #texts: string[] = [];
  readonly #octets: Buffer;
  #length = 0;
  #encoding = 'us-ascii';

  /** `maxCharacters` bounds the number of characters that are added. */
  constructor(maxCharacters: number) {
    this.#octets = Buffer.allocUnsafe(MAX_CHARACTER_OCTETS * maxCharacters);
  }

  /** Adds a character that has the same octet in all encodings. */
  addAscii(octet: number): void {
    this.#octets[this.#length++] = octet;
  }

  /** Adds a character as its octets in an encoding, of which there are a few. */
  addOctets(encoding: string, octets: readonly number[]): void {
    if (encoding !== this.#encoding) this.#decode();
    this.#encoding = encoding;
    for (const octet of octets) this.#octets[this.#length++] = octet;
  }

  addText(text: string): void {
    this.#decode();
    this.#texts.push(text);
  }

  /** Returns the text. */
  end(): string {
    this.#decode();
    return this.#texts.join('');
  }

  #decode(): void {
    if (this.#length === 0) return;
    this.#texts.push(decoderOf(this.#encoding).decode(this.#octets.subarray(0, this.#length)));
    this.#length = 0;
  }
}

function decoderOf(encoding: string): TextDecoder {
  const decoder = decoders.get(encoding) ?? new TextDecoder(encoding);
  decoders.set(encoding, decoder);
  return decoder;
}
