/** Patterns of `:matches` for a comparator, which says what a character is and which texts are equal. */
import { type Comparator, type FoldBudget, isAscii, type MatchValue, spendOnFolding } from '../comparator.ts';
import { type Glob, matchGlob, parseGlob } from './glob.ts';

type Pattern = {
  comparator: Comparator;
  key: string;
  /** The pattern for texts whose folded form is compared as it is. */
  glob: Glob;
  isAscii: boolean;
};

/** Limit of the work of a run. */
type Budget = FoldBudget & { spendOnSearch(characters: number): void };

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
  const units = unitsOf(pattern, value, budget);
  if (!units.isPlain) spendOnFolding(pattern.key, pattern.comparator, budget);
  const glob = units.isPlain ? pattern.glob : parseGlob(units.encode(pattern.key));
  const { encoded } = units;
  const places = matchGlob(glob, encoded, (comparisons) => budget.spendOnText(comparisons));
  if (!places) return undefined;
  return {
    values: () => [text, ...wildcardRanges(glob, places).map(([start, end]) => units.slice(start, end))],
  };
}

/** A folded form of a value in which each character is one UTF-16 code unit. */
type Units = {
  isPlain: boolean;
  encoded: string;
  /** Returns the form of another text. */
  encode(text: string): string;
  /** Returns the characters of the value between two places in its encoded form. */
  slice(start: number, end: number): string;
};

function unitsOf(pattern: Pattern, value: MatchValue, budget: Budget): Units {
  const { comparator } = pattern;
  const isPlain = comparator.character === 'octet' && !pattern.glob.wildcards.includes('?');
  if (isPlain || (pattern.isAscii && isAscii(value.text))) return plainUnits(comparator, value, budget);
  const known = unitsOfValues.get(value);
  if (known?.comparator === comparator) return known.units;
  spendOnFolding(value.text, comparator, budget);
  const units =
    comparator.character === 'octet' ? octetUnits(comparator, value) : codePointUnits(comparator, value);
  unitsOfValues.set(value, { comparator, units });
  return units;
}

/** Forms of values that are kept, one for each: many patterns are often compared with the same value. */
const unitsOfValues = new WeakMap<MatchValue, { comparator: Comparator; units: Units }>();

/** Folding keeps the places of characters here. */
function plainUnits(comparator: Comparator, value: MatchValue, budget: Budget): Units {
  return {
    isPlain: true,
    encoded: value.fold(comparator, budget),
    encode: comparator.fold,
    slice: (start, end) => value.text.slice(start, end),
  };
}

function octetUnits(comparator: Comparator, { text }: MatchValue): Units {
  const encode = (other: string) => Buffer.from(comparator.fold(other)).toString('latin1');
  let octets: Buffer | undefined;
  return {
    isPlain: false,
    encoded: encode(text),
    encode,
    slice(start, end) {
      octets ??= Buffer.from(text);
      return octets.toString('utf8', start, end);
    },
  };
}

/** Surrogates, none of which occurs alone in well-formed text. */
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** Gives each character whose folded form is longer than a code unit a surrogate of its own, as far as there are enough. */
function codePointUnits(comparator: Comparator, { text }: MatchValue): Units {
  const units = new Map<string, string>();
  const surrogates = new Map<string, string>();
  const makeUnit = (character: string) => {
    const folded = comparator.fold(character);
    if (folded.length === 1) return folded;
    const unit =
      surrogates.get(folded) ?? String.fromCharCode(FIRST_SURROGATE + (surrogates.size % SURROGATES));
    surrogates.set(folded, unit);
    return unit;
  };
  const unitOf = (character: string) => {
    const unit = units.get(character) ?? makeUnit(character);
    units.set(character, unit);
    return unit;
  };
  const encode = (other: string) => Array.from(other.normalize('NFC'), unitOf).join('');
  let characters: string[] | undefined;
  return {
    isPlain: false,
    encoded: encode(text),
    encode,
    slice(start, end) {
      characters ??= [...text.normalize('NFC')];
      return characters.slice(start, end).join('');
    },
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
