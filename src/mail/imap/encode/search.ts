/** Writes SEARCH and ESEARCH responses (RFC 3501 section 7.2.5, RFC 9051 section 7.3.4). */
import { formatNumbers } from '../sequence-set.ts';
import type { SearchQuery } from '../session.ts';
import { writeString } from './strings.ts';

/** `numbers` rise. `modseq` is the highest of the messages that were found, when the client asked for modseqs. */
type SearchResult = { numbers: readonly number[]; modseq: number | undefined };

/** Returns the response with its CRLF. */
export function writeSearchResult(
  { esearch, uid, tag }: Pick<SearchQuery, 'esearch' | 'uid' | 'tag'>,
  { numbers, modseq }: SearchResult,
): string {
  const first = numbers[0];
  const isFound = first !== undefined;
  const withModseq = isFound && modseq !== undefined;
  if (!esearch) return `* ${['SEARCH', ...numbers].join(' ')}${withModseq ? ` (MODSEQ ${modseq})` : ''}\r\n`;
  // The tag is a quoted string, which is the only form that Outlook reads.
  const parts = [`* ESEARCH (TAG ${writeString(tag, '7bit')})`];
  if (uid) parts.push('UID');
  if (esearch.min && isFound) parts.push(`MIN ${first}`);
  if (esearch.max && isFound) parts.push(`MAX ${numbers.at(-1)}`);
  if (esearch.count) parts.push(`COUNT ${numbers.length}`);
  if (esearch.all && isFound) parts.push(`ALL ${formatNumbers(numbers)}`);
  if (withModseq) parts.push(`MODSEQ ${modseq}`);
  return `${parts.join(' ')}\r\n`;
}
