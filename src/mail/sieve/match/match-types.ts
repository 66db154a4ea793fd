/** The match types that every script has, and the tags of tests that compare values with keys (RFC 5228 section 2.7). */
import { type Comparator, spendOnFolding } from '../comparator.ts';
import {
  type Call,
  type Matcher,
  type MatchType,
  mapTexts,
  type Parameter,
  type Tag,
  type Texts,
} from '../definition.ts';
import type { Run } from '../run/run.ts';
import { matchPattern, parsePattern } from './pattern.ts';

/** Returns the keys in the form that a comparator compares. */
export function foldKeys(keys: Texts, comparator: Comparator): Pick<Texts, 'read'> {
  if (keys.constants) return mapTexts(keys, comparator.fold);
  return { read: (run) => readKeys(keys, comparator, run).map(comparator.fold) };
}

/** Returns the keys, which depend on the run, and counts the work of folding them. */
function readKeys(keys: Texts, comparator: Comparator, run: Run): readonly string[] {
  const texts = keys.read(run);
  for (const text of texts) spendOnFolding(text, comparator, run);
  return texts;
}

const IS: MatchType = {
  needsSubstrings: false,
  compile({ comparator, keys }) {
    const folded = foldKeys(keys, comparator);
    return (run, values) => {
      const texts = folded.read(run);
      run.spend(values.length * texts.length);
      return values.some((value) => texts.includes(value.fold(comparator, run)));
    };
  },
};

const CONTAINS: MatchType = {
  needsSubstrings: true,
  compile({ comparator, keys }) {
    const folded = foldKeys(keys, comparator);
    return (run, values) => {
      const texts = folded.read(run);
      // Most scripts do little else, and loops take half the time of functions that are called for each value and key.
      for (const value of values) {
        const text = value.fold(comparator, run);
        run.spendOnSearch(texts.length * text.length);
        for (const key of texts) if (text.includes(key)) return true;
      }
      return false;
    };
  },
};

const MATCHES: MatchType = {
  needsSubstrings: true,
  compile({ call, comparator, keys }) {
    const keepsValues = call.uses('variables');
    const parse = (key: string) => parsePattern(key, comparator);
    const constants = keys.constants?.map(parse);
    return (run, values) => {
      const patterns = constants ?? readKeys(keys, comparator, run).map(parse);
      for (const value of values) {
        for (const pattern of patterns) {
          const match = matchPattern(pattern, value, run);
          if (!match) continue;
          if (keepsValues) run.matchValues = match.values();
          return true;
        }
      }
      return false;
    };
  },
};

/** Tags of a test that compares values of the message with keys of the script. */
export const MATCH_TAGS: readonly Tag[] = [
  { name: ':comparator', value: 'constant' },
  { name: ':is', group: 'match type', matchType: IS },
  { name: ':contains', group: 'match type', matchType: CONTAINS },
  { name: ':matches', group: 'match type', matchType: MATCHES },
];

/** The keys with which such a test compares. */
export const KEYS: Parameter = { name: 'keys', type: 'texts' };

/**
 * Returns the comparison of a call that has `MATCH_TAGS` and the keys, which are its argument unless they are given.
 * @throws ScriptFault when the comparator is unknown or does not fit the match type
 */
export function compileMatcher(call: Call, keys = call.texts(KEYS.name)): Matcher {
  const comparator = call.comparator();
  const { name, matchType = IS } = call.tagOf('match type') ?? { name: ':is' };
  if (matchType.needsSubstrings && !comparator.hasSubstrings)
    throw call.fault(`\`${comparator.name}\` cannot compare by \`${name}\``, ':comparator');
  return matchType.compile({ call, comparator, keys });
}

/** Returns true for a call whose match type is `:count`. */
export function countsValues(call: Call): boolean {
  return call.tagOf('match type')?.name === ':count';
}
