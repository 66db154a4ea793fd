/** The tests of what the caller of the run knows: `environment` (RFC 5183), and `spamtest` with its extension `:percent` (RFC 5235). */
import { MatchValue } from '../comparator.ts';
import type { Extension } from '../definition.ts';
import { compileMatcher, countsValues, KEYS, MATCH_TAGS } from '../match/match-types.ts';

export const ENVIRONMENT: Extension = {
  name: 'environment',
  tests: [
    {
      name: 'environment',
      tags: MATCH_TAGS,
      parameters: [{ name: 'name', type: 'text' }, KEYS],
      compile(call) {
        const name = call.text('name');
        const matches = compileMatcher(call);
        const isCount = countsValues(call);
        return (run) => {
          const items = new Map(Object.entries(run.input.environment));
          const value = items.get(name.read(run).toLowerCase());
          if (value === undefined) return false;
          return matches(run, isCount && value === '' ? [] : [new MatchValue(value)]);
        };
      },
    },
  ],
};

const PERCENT = ':percent';

/** Returns 1 for a message that is surely no spam, and up to 10 for one that surely is. */
function scoreOf(percent: number): number {
  return 1 + Math.round((Math.min(Math.max(percent, 0), 100) * 9) / 100);
}

export const SPAMTEST: Extension = {
  name: 'spamtest',
  tests: [
    {
      name: 'spamtest',
      tags: MATCH_TAGS,
      parameters: [{ name: 'value', type: 'text' }],
      compile(call) {
        const matches = compileMatcher(call, call.texts('value'));
        const showsPercent = call.has(PERCENT);
        const isCount = countsValues(call);
        return (run) => {
          const { spamPercent } = run.input;
          if (spamPercent !== undefined)
            return matches(run, [new MatchValue(String(showsPercent ? spamPercent : scoreOf(spamPercent)))]);
          // A message that was not tested has the value 0, and is counted as none (RFC 5235 section 3.1).
          return matches(run, isCount ? [] : [new MatchValue('0')]);
        };
      },
    },
  ],
};

export const SPAMTESTPLUS: Extension = {
  name: 'spamtestplus',
  implies: ['spamtest'],
  tags: [{ on: ['spamtest'], tags: [{ name: PERCENT }] }],
};
