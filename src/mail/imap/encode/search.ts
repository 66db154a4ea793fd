/** Writes SEARCH, SORT and ESEARCH responses (RFC 3501 section 7.2.5, RFC 5256 section 4, RFC 9051 section 7.3.4). */
import { pageOf } from '../page-range.ts';
import { formatNumbers } from '../sequence-set.ts';
import type { SearchQuery, SearchReturn } from '../session.ts';
import { writeString } from './strings.ts';

/** `numbers` are in the order of the results, which rise unless they were sorted. `modseq` is the highest of the messages that were found, when the client asked for modseqs. */
type SearchResult = { numbers: readonly number[]; modseq: number | undefined };

/**
 * Returns the response with its CRLF. There is none when the client only wants the result to be kept (RFC 5182 section 2.1).
 */
export function writeSearchResult(
  { esearch, uid, tag, arrangement }: Pick<SearchQuery, 'esearch' | 'uid' | 'tag' | 'arrangement'>,
  { numbers, modseq }: SearchResult,
): string {
  const first = numbers[0];
  const isFound = first !== undefined;
  const withModseq = isFound && modseq !== undefined;
  const name = arrangement.kind === 'sort' ? 'SORT' : 'SEARCH';
  if (!esearch) return `* ${[name, ...numbers].join(' ')}${withModseq ? ` (MODSEQ ${modseq})` : ''}\r\n`;
  const { min, max, all, count, save, partial } = esearch;
  if (save && !min && !max && !all && !count && !partial) return '';
  // The tag is a quoted string, which is the only form that Outlook reads.
  const parts = [`* ESEARCH (TAG ${writeString(tag, '7bit')})`];
  if (uid) parts.push('UID');
  if (min && isFound) parts.push(`MIN ${first}`);
  if (max && isFound) parts.push(`MAX ${numbers.at(-1)}`);
  if (count) parts.push(`COUNT ${numbers.length}`);
  if (all && isFound) parts.push(`ALL ${formatNumbers(numbers)}`);
  if (partial)
    parts.push(`PARTIAL (${partial.join(':')} ${formatNumbers(pageOf(numbers, partial)) || 'NIL'})`);
  if (withModseq) parts.push(`MODSEQ ${modseq}`);
  return `${parts.join(' ')}\r\n`;
}

/**
 * Returns the numbers that SAVE keeps: MIN, MAX and PARTIAL alone, or all that were found (RFC 5182 section 2.4, RFC 9394 section
 * 3.2).
 */
export function numbersToSave(
  { min, max, all, count, partial }: SearchReturn,
  numbers: readonly number[],
): number[] {
  if (all || count || (!min && !max && !partial)) return [...numbers];
  const [first, last] = [numbers[0], numbers.at(-1)];
  const page = partial ? pageOf(numbers, partial) : [];
  return [...new Set([...(min ? [first] : []), ...page, ...(max ? [last] : [])])].filter(
    (number) => number !== undefined,
  );
}
