/** Sorts messages (RFC 5256, RFC 5957). */
import type { SortKeys } from '../message/sort-keys.ts';

export type SortKey =
  | 'arrival'
  | 'cc'
  | 'date'
  | 'displayFrom'
  | 'displayTo'
  | 'from'
  | 'size'
  | 'subject'
  | 'to';

/** `reverse` puts the largest value first. Messages with the same value stay in the order of the mailbox. */
export type SortCriterion = { key: SortKey; reverse: boolean };

export type SortRow = {
  /** Sequence number or UID, which the result consists of. */
  number: number;
  /** Internal date in Unix milliseconds. */
  internalAt: number;
  sizeBytes: number;
  keys: SortKeys;
};

type Compare = (one: SortRow, other: SortRow) => number;

/** Returns the numbers of the messages in the order of the criteria. The rows are in the order of the mailbox. */
export function sortMessages(rows: readonly SortRow[], criteria: readonly SortCriterion[]): number[] {
  const comparisons = criteria.map(({ key, reverse }): Compare => {
    const compare = COMPARISONS[key];
    return reverse ? (one, other) => compare(other, one) : compare;
  });
  const sorted = rows.toSorted((one, other) => {
    for (const compare of comparisons) {
      const order = compare(one, other);
      if (order !== 0) return order;
    }
    return 0;
  });
  return sorted.map(({ number }) => number);
}

/** Returns the date that the sender gave, or the internal date where that is not valid (RFC 5256 section 2.2). */
export function sentAt({ keys, internalAt }: { keys: Pick<SortKeys, 'sent'>; internalAt: number }): number {
  return keys.sent?.at ?? internalAt;
}

const byText =
  (key: 'cc' | 'displayFrom' | 'displayTo' | 'from' | 'to' | 'baseSubject'): Compare =>
  (one, other) =>
    compareTexts(one.keys[key], other.keys[key]);

const COMPARISONS: Readonly<Record<SortKey, Compare>> = {
  arrival: (one, other) => one.internalAt - other.internalAt,
  cc: byText('cc'),
  date: (one, other) => sentAt(one) - sentAt(other),
  displayFrom: byText('displayFrom'),
  displayTo: byText('displayTo'),
  from: byText('from'),
  size: (one, other) => one.sizeBytes - other.sizeBytes,
  subject: byText('baseSubject'),
  to: byText('to'),
};

/**
 * Compares folded texts by their code points, which is the order of their octets in UTF-8 (RFC 5051 section 2). JavaScript
 * compares UTF-16, where characters above U+FFFF come before some of the others.
 */
export function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return one.length - other.length;
}

/** Moves surrogates, of which characters above U+FFFF consist, behind all other code units. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
