/** The match types `:value` and `:count` (RFC 5231). */
import { type Call, type Extension, MATCHING_TESTS, type MatchType } from '../definition.ts';
import { foldKeys } from '../match/match-types.ts';

/** Relations of an order: a negative number where the value of the message is less than the key. */
const RELATIONS: Readonly<Record<string, (order: number) => boolean>> = {
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
};

function relationOf(call: Call, tag: string): (order: number) => boolean {
  const relation = RELATIONS[call.constant(tag).toLowerCase()];
  if (!relation) throw call.fault(`\`${tag}\` needs one of ${Object.keys(RELATIONS).join(', ')}`, tag);
  return relation;
}

const VALUE: MatchType = {
  needsSubstrings: false,
  compile({ call, comparator, keys }) {
    const holds = relationOf(call, ':value');
    const folded = foldKeys(keys, comparator);
    return (run, values) => {
      const texts = folded.read(run);
      return values.some((value) => {
        const text = value.fold(comparator, run);
        run.spend(texts.length);
        return texts.some((key) => {
          run.spendOnSearch(text.length + key.length);
          return holds(comparator.order(text, key));
        });
      });
    };
  },
};

const COUNT: MatchType = {
  needsSubstrings: false,
  compile({ call, comparator, keys }) {
    const holds = relationOf(call, ':count');
    const folded = foldKeys(keys, comparator);
    return (run, values) => {
      const count = comparator.fold(String(values.length));
      return folded.read(run).some((key) => holds(comparator.order(count, key)));
    };
  },
};

export const RELATIONAL: Extension = {
  name: 'relational',
  tags: [
    {
      on: MATCHING_TESTS,
      tags: [
        { name: ':value', value: 'constant', group: 'match type', matchType: VALUE },
        { name: ':count', value: 'constant', group: 'match type', matchType: COUNT },
      ],
    },
  ],
};
