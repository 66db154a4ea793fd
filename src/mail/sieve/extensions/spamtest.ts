/** The test `spamtest` (RFC 5235 section 3.2). */
import type { Extension } from '../compile/definition.ts';
import { MatchValue } from '../match/comparator.ts';
import { compileMatcher, MATCH_TAGS } from '../match/match-types.ts';

/** Returns 0 for a message that was not tested, 1 for one that is surely no spam, and up to 10 for one that surely is. */
function scoreOf(percent: number | undefined): number {
  if (percent === undefined) return 0;
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
        return (run) => matches(run, [new MatchValue(String(scoreOf(run.input.spamPercent)))]);
      },
    },
  ],
};
