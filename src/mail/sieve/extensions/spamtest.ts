/** The test `spamtest`, with `:percent` as an extension of its own (RFC 5235 section 3.2). */
import type { Extension } from '../compile/definition.ts';
import { MatchValue } from '../match/comparator.ts';
import { countsValues } from '../match/counts.ts';
import { compileMatcher, MATCH_TAGS } from '../match/match-types.ts';

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
