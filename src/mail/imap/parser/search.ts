/** Reads the arguments of SEARCH: what to return, the charset and the keys (RFC 9051 section 6.4.4). */

import { bad, CommandError } from '../command-error.ts';
import type { FetchItem } from '../fetch-item.ts';
import type { SearchKey } from '../search-key.ts';
import type { SearchReturn } from '../session.ts';
import type { SortCriterion, SortKey } from '../sort.ts';
import type { ThreadAlgorithm } from '../thread.ts';
import type { Cursor } from './cursor.ts';
import { parseFetchItems } from './fetch-items.ts';
import { parseSearchKeys } from './search-keys.ts';
import { parsePageRange } from './sequence-set.ts';

/** Charsets that a client is told of when it asks for one that is unknown. All others that mail has are read too. */
const CHARSETS = ['US-ASCII', 'UTF-8', 'ISO-8859-1'];
const NOTHING: SearchReturn = { min: false, max: false, all: false, count: false, save: false };
/** Meaning of an empty RETURN (RFC 4731 section 3.1). */
export const RETURN_ALL: SearchReturn = { ...NOTHING, all: true };

/** `esearch` is undefined when the client has not asked for an ESEARCH response. */
type SearchArguments = { esearch: SearchReturn | undefined; keys: SearchKey[] };

/** Returns the arguments. @throws CommandError */
export function parseSearch(cursor: Cursor): SearchArguments {
  cursor.space();
  const esearch = parseReturn(cursor);
  if (cursor.skip('CHARSET ')) parseCharset(cursor);
  return { esearch, keys: parseSearchKeys(cursor) };
}

/** Reads the charset of search texts and the space after it. @throws CommandError */
function parseCharset(cursor: Cursor): void {
  if (!cursor.setCharset(cursor.astring()))
    throw new CommandError('NO', 'The charset is not supported', `BADCHARSET (${CHARSETS.join(' ')})`);
  cursor.space();
}

/** Reads what to return, where it is given, and the space after it. @throws CommandError */
function parseReturn(cursor: Cursor): SearchReturn | undefined {
  if (!cursor.skip('RETURN ')) return undefined;
  let esearch = NOTHING;
  const options = cursor.list(() => {
    esearch = addOption(esearch, cursor);
  });
  cursor.space();
  if (esearch.all && esearch.partial) bad('SEARCH returns ALL or PARTIAL, not both');
  return options.length === 0 ? RETURN_ALL : esearch;
}

function addOption(esearch: SearchReturn, cursor: Cursor): SearchReturn {
  const name = cursor.word().toLowerCase();
  if (name === 'partial' && !esearch.partial) return { ...esearch, partial: parsePageRange(cursor) };
  if (name === 'update' && !esearch.update) return { ...esearch, update: parseUpdate(cursor) };
  // This is a hint that the same search comes again (RFC 5267 section 4.2). Results are not kept, so it changes nothing.
  if (name === 'context') return esearch;
  return name in NOTHING ? { ...esearch, [name]: true } : bad('SEARCH has a return option that is unknown');
}

/** Reads the items that are returned of messages that are added, where they are given (RFC 5465 section 7). */
function parseUpdate(cursor: Cursor): FetchItem[] {
  if (!cursor.isBeforeList) return [];
  cursor.space();
  return parseFetchItems(cursor);
}

/** Reads the arguments of SORT (RFC 5256 section 5), with what to return (RFC 5267 section 3). */
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

/** Reads the arguments of THREAD (RFC 5256 section 5). */
type ThreadArguments = { algorithm: ThreadAlgorithm; keys: SearchKey[] };

/** Returns the arguments. @throws CommandError */
export function parseThread(cursor: Cursor): ThreadArguments {
  cursor.space();
  const algorithm = parseAlgorithm(cursor.atom().toUpperCase());
  cursor.space();
  parseCharset(cursor);
  return { algorithm, keys: parseSearchKeys(cursor) };
}

function parseAlgorithm(name: string): ThreadAlgorithm {
  return name === 'ORDEREDSUBJECT' || name === 'REFERENCES'
    ? name
    : bad('The threading algorithm is unknown');
}
