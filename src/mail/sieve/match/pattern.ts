/** Patterns of `:matches` for a comparator, which says what a character is and which texts are equal. */
import { type Comparator, isAscii, type MatchValue } from './comparator.ts';
import { type Glob, matchGlob, parseGlob } from './glob.ts';

type Pattern = {
  comparator: Comparator;
  key: string;
  /** The pattern for texts whose folded form is compared as it is. */
  glob: Glob;
  isAscii: boolean;
};

/** Limit of the work of a run. */
type Budget = { spendOnText(characters: number): void; spendOnSearch(characters: number): void };

type Match = {
  /** Returns the text that matched, and then the texts that the wildcards stood for. */
  values(): string[];
};

/** Returns the pattern that a key is. */
export function parsePattern(key: string, comparator: Comparator): Pattern {
  return { comparator, key, glob: parseGlob(comparator.fold(key)), isAscii: isAscii(key) };
}

/** Returns the match of a value; undefined when the pattern does not match it. */
export function matchPattern(pattern: Pattern, value: MatchValue, budget: Budget): Match | undefined {
  const { text } = value;
  budget.spendOnSearch(text.length);
  const units = unitsOf(pattern, value);
  const glob = units.isPlain ? pattern.glob : parseGlob(units.encode(pattern.key));
  const encoded = units.encode(text);
  const places = matchGlob(glob, encoded, (comparisons) => budget.spendOnText(comparisons));
  if (!places) return undefined;
  return {
    values: () => [
      text,
      ...wildcardRanges(glob, places).map(([start, end]) => units.slice(text, start, end)),
    ],
  };
}

/** A folded form of text in which each character is one UTF-16 code unit. */
type Units = {
  isPlain: boolean;
  encode(text: string): string;
  /** Returns the characters of a text between two places in its encoded form. */
  slice(text: string, start: number, end: number): string;
};

function unitsOf(pattern: Pattern, value: MatchValue): Units {
  const { comparator } = pattern;
  const isPlain = comparator.character === 'octet' && !pattern.glob.wildcards.includes('?');
  if (isPlain || (pattern.isAscii && isAscii(value.text))) return plainUnits(comparator, value);
  return comparator.character === 'octet' ? octetUnits(comparator) : codePointUnits(comparator);
}

/** Folding keeps the places of characters here. */
function plainUnits(comparator: Comparator, value: MatchValue): Units {
  return {
    isPlain: true,
    encode: () => value.fold(comparator),
    slice: (text, start, end) => text.slice(start, end),
  };
}

function octetUnits(comparator: Comparator): Units {
  return {
    isPlain: false,
    encode: (text) => Buffer.from(comparator.fold(text)).toString('latin1'),
    slice: (text, start, end) => Buffer.from(text).toString('utf8', start, end),
  };
}

/** Surrogates, none of which occurs alone in well-formed text. */
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** Gives each character whose folded form is longer than a code unit a surrogate of its own, as far as there are enough. */
function codePointUnits(comparator: Comparator): Units {
  const surrogates = new Map<string, string>();
  const unitOf = (character: string) => {
    const folded = comparator.fold(character);
    if (folded.length === 1) return folded;
    const unit =
      surrogates.get(folded) ?? String.fromCharCode(FIRST_SURROGATE + (surrogates.size % SURROGATES));
    surrogates.set(folded, unit);
    return unit;
  };
  return {
    isPlain: false,
    encode: (text) => Array.from(text.normalize('NFC'), unitOf).join(''),
    slice: (text, start, end) => [...text.normalize('NFC')].slice(start, end).join(''),
  };
}

/** Returns the places of the characters that each wildcard stood for. */
function wildcardRanges({ pieces }: Glob, places: readonly number[]): readonly (readonly [number, number])[] {
  return pieces.flatMap(({ text, wildcards }, index) => {
    const place = places[index] ?? 0;
    const single = wildcards.map((offset) => [place + offset, place + offset + 1] as const);
    const next = places[index + 1];
    return next === undefined ? single : [...single, [place + text.length, next] as const];
  });
}
