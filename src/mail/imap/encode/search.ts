/** Writes SEARCH, SORT, THREAD and ESEARCH responses (RFC 3501 section 7.2.5, RFC 5256 section 4, RFC 9051 section 7.3.4). */

import { createStepCounter, type Steps } from '../../../system/steps.ts';
import { formatNumbers, pageOf } from '../sequence-set.ts';
import type { SearchQuery, SearchReturn } from '../session.ts';
import type { Thread } from '../thread.ts';
import { writeString } from './strings.ts';

/**
 * `numbers` are in the order of the results, which rise unless they were sorted. `modseq` is the highest of the messages that were found,
 * when the client asked for modseqs.
 */
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
  const { min, max, all, count, save, partial, update } = esearch;
  if (save && !min && !max && !all && !count && !partial && !update) return '';
  const parts = [beginEsearch({ tag, uid })];
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

/** Results that follow each other. The first position is 1; 0 leaves the order to the client, which knows that of SEARCH. */
export type ResultRun = { position: number; numbers: readonly number[] };

type SearchUpdate = { removed: readonly ResultRun[]; added: readonly ResultRun[] };

/**
 * Returns the response about results that have changed, with its CRLF (RFC 5267 sections 4.3.3 and 4.3.4); empty when none has. The
 * client removes results first, and each run is applied to what the runs before have left.
 */
export function writeSearchUpdate(
  search: Pick<SearchQuery, 'tag' | 'uid'>,
  { removed, added }: SearchUpdate,
): string {
  const write = (name: string, runs: readonly ResultRun[]): string => {
    const pairs = runs.map(({ position, numbers }) => `${position} ${formatNumbers(numbers)}`);
    return pairs.length > 0 ? ` ${name} (${pairs.join(' ')})` : '';
  };
  const items = write('REMOVEFROM', removed) + write('ADDTO', added);
  return items === '' ? '' : `${beginEsearch(search)}${items}\r\n`;
}

/** Returns the response that tells that a search is not, or no longer, updated, with its CRLF (RFC 5267 section 4.3.1). */
export function writeNoUpdate(tag: string, text: string): string {
  return `* NO [NOUPDATE ${writeString(tag, '7bit')}] ${text}\r\n`;
}

/** Returns the beginning of an ESEARCH response. The tag is a quoted string, which is the only form that Outlook reads. */
function beginEsearch({ tag, uid }: Pick<SearchQuery, 'tag' | 'uid'>): string {
  return `* ESEARCH (TAG ${writeString(tag, '7bit')})${uid ? ' UID' : ''}`;
}

/** Writes THREAD responses (RFC 5256 section 4) without recursion, because strangers decide how deep threads are. */

/** Returns the response with its CRLF. */
export function* writeThreads(threads: readonly Thread[]): Steps<string> {
  const isDue = createStepCounter();
  let response = threads.length > 0 ? '* THREAD ' : '* THREAD';
  /** Pieces of the response that are still to be written, in reverse order. */
  const open: (Thread | string)[] = [];
  const pushLists = (lists: readonly Thread[]): void => {
    for (const thread of lists.toReversed()) open.push(')', thread, '(');
  };
  pushLists(threads);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isDue(1)) yield;
    if (typeof next === 'string') {
      response += next;
      continue;
    }
    const { number, children } = next;
    const [only] = children;
    if (number !== undefined) response += only ? `${number} ` : `${number}`;
    if (only && children.length === 1) open.push(only);
    else pushLists(children);
  }
  return `${response}\r\n`;
}
