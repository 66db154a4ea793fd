/**
 * Decodes Johab, the Korean charset of DOS (code page 1361; KS X 1001 annex 3). A syllable is composed of its letters in three fields of five
 * bits. All other characters are those of KS X 1001 in another order, which EUC-KR has too.
 */

const LABELS: ReadonlySet<string> = new Set(['johab', 'cp1361', 'ms1361', 'ks_c_5601-1992']);

/** Letters of Unicode for a syllable that lacks the others, in the order of each field. */
const INITIALS = 'ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ';
const FINALS = 'ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ';
const FIRST_VOWEL = 0x314f;
const FIRST_SYLLABLE = 0xac00;
const VOWELS = 21;
/** Number of ends of a syllable, one of which is none. */
const ENDS = FINALS.length + 1;

/** Returns true for the name of this charset, in lower case. */
export function isJohab(label: string): boolean {
  return LABELS.has(label);
}

/** Returns the text of octets. What is not a character becomes U+FFFD. */
export function decodeJohab(octets: Uint8Array): string {
  const text = new SegmentedText(octets.length);
  for (let at = 0; at < octets.length; ) {
    const [first = 0, second = 0] = [octets[at], octets[at + 1]];
    if (first < 0x80) {
      text.addAscii(first);
      at++;
      continue;
    }
    const syllable = first < 0xd8 ? composeSyllable((first << 8) | second) : undefined;
    if (syllable !== undefined) text.addText(syllable);
    else if (first >= 0xd9 && isTrail(second)) text.addOctets('euc-kr', toEucKr(first, second));
    else text.addText('\ufffd');
    // The second octet of what is not a character may be a line end.
    at += second < 0x31 ? 1 : 2;
  }
  return text.end();
}

function composeSyllable(code: number): string | undefined {
  const initial = ((code >> 10) & 31) - 2;
  const vowel = vowelOf((code >> 5) & 31);
  const final = finalOf(code & 31);
  // -1 stands for a letter that is missing.
  if (initial < -1 || initial >= INITIALS.length || vowel === undefined || final === undefined)
    return undefined;
  if (initial >= 0 && vowel >= 0)
    return String.fromCharCode(FIRST_SYLLABLE + (initial * VOWELS + vowel) * ENDS + final + 1);
  if (vowel >= 0) return initial < 0 && final < 0 ? String.fromCharCode(FIRST_VOWEL + vowel) : undefined;
  if (final >= 0) return initial < 0 ? FINALS[final] : undefined;
  return initial >= 0 ? INITIALS[initial] : undefined;
}

/** The first codes of each group of eight have no vowel. */
function vowelOf(code: number): number | undefined {
  if (code === 2) return -1;
  const [group, place] = [code >> 3, code & 7];
  const vowel = 6 * group + place - 3;
  return place >= (group === 0 ? 3 : 2) && vowel < VOWELS ? vowel : undefined;
}

/** The code 18 has no letter. */
function finalOf(code: number): number | undefined {
  if (code < 1 || code === 18 || code > 29) return undefined;
  return code < 18 ? code - 2 : code - 3;
}

function isTrail(octet: number): boolean {
  return (octet >= 0x31 && octet <= 0x7e) || (octet >= 0x91 && octet <= 0xfe);
}

/** Returns the octets of a symbol or a Chinese character in EUC-KR. One first octet stands for two rows of 94 characters. */
function toEucKr(first: number, second: number): [number, number] {
  const row = first < 0xe0 ? 2 * (first - 0xd9) : 2 * (first - 0xe0) + 0x29;
  const column = second < 0x91 ? second - 0x31 : second - 0x43;
  return column < 94 ? [row + 0xa1, column + 0xa1] : [row + 0xa2, column - 94 + 0xa1];
}

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
