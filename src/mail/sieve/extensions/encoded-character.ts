/** Characters written as hexadecimal numbers (RFC 5228 section 2.4.2.4). */
import type { Extension } from '../definition.ts';

const BLANK = '[ \\t\\r\\n]';
/** Matches octets or code points. What does not fit the grammar is ordinary text. */
const ENCODED = new RegExp(
  `\\$\\{(?:(hex):${BLANK}*([0-9a-f]{1,2}(?:${BLANK}+[0-9a-f]{1,2})*)|(unicode):${BLANK}*([0-9a-f]+(?:${BLANK}+[0-9a-f]+)*))${BLANK}*\\}`,
  'gi',
);

/** Number of the last character of Unicode. */
const MAX_CODE_POINT = 0x10ffff;

export const ENCODED_CHARACTER: Extension = {
  name: 'encoded-character',
  changesStrings: true,
  decode(value) {
    if (!value.includes('${')) return value;
    const pieces: Buffer[] = [];
    let at = 0;
    for (const match of value.matchAll(ENCODED)) {
      const [whole, , octets, , codePoints = ''] = match;
      pieces.push(Buffer.from(value.slice(at, match.index)));
      pieces.push(octets === undefined ? readCodePoints(codePoints) : readOctets(octets));
      at = match.index + whole.length;
    }
    // Octets may be parts of a character, so that the text is decoded as a whole. Octets that are not UTF-8 become U+FFFD.
    return Buffer.concat([...pieces, Buffer.from(value.slice(at))]).toString();
  },
};

function readOctets(text: string): Buffer {
  return Buffer.from(numbersOf(text));
}

function readCodePoints(text: string): Buffer {
  const numbers = numbersOf(text);
  const wrong = numbers.find((number) => number > MAX_CODE_POINT || (number >= 0xd800 && number <= 0xdfff));
  if (wrong !== undefined) throw new RangeError(`${wrong.toString(16)} is not the number of a character`);
  return Buffer.from(String.fromCodePoint(...numbers));
}

function numbersOf(text: string): number[] {
  return text
    .trim()
    .split(/\s+/)
    .map((digits) => Number.parseInt(digits, 16));
}
