/** Reads the arguments of SORT (RFC 5256 section 5), with what to return (RFC 5267 section 3). */
import { bad } from '../command-error.ts';
import type { SearchKey } from '../search-key.ts';
import type { SearchReturn } from '../session.ts';
import type { SortCriterion, SortKey } from '../sort.ts';
import type { Cursor } from './cursor.ts';
import { parseCharset, parseReturn } from './search.ts';
import { parseSearchKeys } from './search-keys.ts';

const KEYS: ReadonlyMap<string, SortKey> = new Map(
  Object.entries({
    ARRIVAL: 'arrival',
    CC: 'cc',
    DATE: 'date',
    DISPLAYFROM: 'displayFrom',
    DISPLAYTO: 'displayTo',
    FROM: 'from',
    SIZE: 'size',
    SUBJECT: 'subject',
    TO: 'to',
  } as const),
);

/** `esearch` is undefined when the client has not asked for an ESEARCH response. */
type SortArguments = { esearch: SearchReturn | undefined; criteria: SortCriterion[]; keys: SearchKey[] };

/** Returns the arguments. @throws CommandError */
export function parseSort(cursor: Cursor): SortArguments {
  cursor.space();
  const esearch = parseReturn(cursor);
  const criteria = cursor.list(() => parseCriterion(cursor));
  if (criteria.length === 0) bad('SORT needs a criterion');
  cursor.space();
  parseCharset(cursor);
  return { esearch, criteria: withoutRepeated(criteria), keys: parseSearchKeys(cursor) };
}

function parseCriterion(cursor: Cursor): SortCriterion {
  const reverse = cursor.skip('REVERSE ');
  const key = KEYS.get(cursor.word());
  return key ? { key, reverse } : bad('A sort criterion is unknown');
}

/** Drops criteria that another one before has decided, so that no command costs more than all keys together. */
function withoutRepeated(criteria: readonly SortCriterion[]): SortCriterion[] {
  const seen = new Set<SortKey>();
  return criteria.filter(({ key }) => !seen.has(key) && seen.add(key));
}
