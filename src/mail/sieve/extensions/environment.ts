/** The test `environment` (RFC 5183). Which items there are, the caller of the run decides. */
import type { Extension } from '../compile/definition.ts';
import { MatchValue } from '../match/comparator.ts';
import { countsValues } from '../match/counts.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';

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
