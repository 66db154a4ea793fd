/** Patterns of `:matches` for a comparator, which says what a character is and which texts are equal. */
import { type Comparator, isAscii, type MatchValue } from './comparator.ts';
import { type Glob, matchGlob, parseGlob } from './glob.ts';

type Pattern = {
  comparator: Comparator;
  key: string;
  /** The pattern for texts in which each code unit is a character. */
  glob: Glob;
  /** True when octets or code points of a text must be told apart, because `?` stands for one of them. */
  countsCharacters: boolean;
};

/** Limit of the work of a run. */
type Budget = { spendOnText(characters: number): void };

type Match = {
  /** Returns the text that matched, and then what each wildcard stood for. */
  values(): string[];
};

/** Returns the pattern that a key is. */
export function parsePattern(key: string, comparator: Comparator): Pattern {
  const folded = comparator.fold(key);
  return { comparator, key: folded, glob: parseGlob(folded), countsCharacters: key.includes('?') };
}

/** Returns the match of a value; undefined when the pattern does not match it. */
export function matchPattern(pattern: Pattern, value: MatchValue, budget: Budget): Match | undefined {
  const folded = value.fold(pattern.comparator);
  budget.spendOnText(folded.length);
  const spend = (comparisons: number) => budget.spendOnText(comparisons);
  const units = unitsOf(pattern, folded);
  const glob = units.isPlain ? pattern.glob : parseGlob(units.encode(pattern.key));
  const encoded = units.encode(folded);
  const places = matchGlob(glob, encoded, spend);
  if (!places) return undefined;
  return {
    values: () => {
      const original = units.encode(align(value.text, folded, pattern.comparator));
      const parts = wildcardRanges(glob, places, encoded.length);
      return [value.text, ...parts.map(([start, end]) => units.decode(original.slice(start, end)))];
    },
  };
}

/** A form of text in which each character is one UTF-16 code unit. */
type Units = { isPlain: boolean; encode(text: string): string; decode(units: string): string };

const PLAIN: Units = { isPlain: true, encode: (text) => text, decode: (units) => units };

const OCTETS: Units = {
  isPlain: false,
  encode: (text) => Buffer.from(text).toString('latin1'),
  decode: (units) => Buffer.from(units, 'latin1').toString(),
};

const ABOVE_FFFF = /[\u{10000}-\u{10ffff}]/gu;

function unitsOf({ comparator, key, countsCharacters }: Pattern, text: string): Units {
  if (!countsCharacters || isAscii(text)) return PLAIN;
  if (comparator.character === 'octet') return OCTETS;
  const characters = new Set([...text.matchAll(ABOVE_FFFF), ...key.matchAll(ABOVE_FFFF)].map(([one]) => one));
  return characters.size === 0 ? PLAIN : codePointUnits([...characters]);
}

/** Number of surrogates, none of which occurs alone in well-formed text. */
const SURROGATES = 0x800;
const FIRST_SURROGATE = 0xd800;

/** Gives each character above U+FFFF a surrogate of its own. */
function codePointUnits(characters: readonly string[]): Units {
  const units = new Map<string, string>();
  for (const [index, character] of characters.entries())
    units.set(character, String.fromCharCode(FIRST_SURROGATE + (index % SURROGATES)));
  const back = new Map([...units].map(([character, unit]) => [unit, character]));
  return {
    isPlain: false,
    encode: (text) => text.replace(ABOVE_FFFF, (character) => units.get(character) ?? character),
    decode: (text) => text.replace(/[\ud800-\udfff]/g, (unit) => back.get(unit) ?? unit),
  };
}

/** Returns the text in which places of the folded text can be looked up: the text itself where folding keeps them. */
function align(text: string, folded: string, comparator: Comparator): string {
  if (text.length === folded.length || comparator.character === 'octet') return text;
  return folded;
}

/** Returns where the characters are that each wildcard stood for. */
function wildcardRanges(
  { pieces }: Glob,
  places: readonly number[],
  length: number,
): readonly (readonly [number, number])[] {
  return pieces.flatMap(({ text, wildcards }, index) => {
    const place = places[index] ?? 0;
    const single = wildcards.map((offset) => [place + offset, place + offset + 1] as const);
    const isLast = index + 1 === pieces.length;
    return isLast ? single : [...single, [place + text.length, places[index + 1] ?? length] as const];
  });
}
