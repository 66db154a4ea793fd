/** Folds the headings of other products to the names of properties, which merge tags and segments can use. */
import type { Heading } from '../../imports/headings.ts';
import { PROPERTY_KEY } from './fields.ts';

/** Maximum length of the name of a property (`PROPERTY_KEY`). */
const MAX_KEY_CHARACTERS = 64;
const KEY = new RegExp(PROPERTY_KEY);

/** Letters that Unicode does not decompose into a letter of ASCII and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Þ: 'Th',
};

/**
 * Returns the name of the property for a heading. A heading that is a legal name stays as it is; otherwise accents go, and every other
 * character becomes an underscore: `Straße / Nr.` is `Strasse_Nr`. A heading without any letter of ASCII is `column_3`.
 */
function propertyKey({ text, column }: Pick<Heading, 'text' | 'column'>): string {
  if (KEY.test(text)) return text;
  const folded = text
    .slice(0, 2 * MAX_KEY_CHARACTERS)
    .replace(/[^\0-\x7f]/gu, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .slice(0, MAX_KEY_CHARACTERS)
    .replace(/^_+|_+$/g, '');
  return folded === '' ? `column_${column + 1}` : folded;
}

/** Returns a name that no other column has: the second `Phone` is `Phone_2`. */
export function uniquePropertyKey(heading: Heading, isTaken: (key: string) => boolean): string {
  const wanted = propertyKey(heading);
  let key = wanted;
  for (let number = 2; isTaken(key); number++) {
    const suffix = `_${number}`;
    key = `${wanted.slice(0, MAX_KEY_CHARACTERS - suffix.length)}${suffix}`;
  }
  return key;
}
