/** Sorts messages (RFC 5256, RFC 5957). */
import { sortInSteps } from '../../system/sort-in-steps.ts';
import { createStepCounter, type Steps } from '../../system/steps.ts';
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

/**
 * Returns the numbers of the messages in the order of the criteria. The rows are in the order of the mailbox. Each criterion becomes a
 * column of numbers, because nearly all of the time is spent in comparisons.
 */
export function* sortMessages(rows: readonly SortRow[], criteria: readonly SortCriterion[]): Steps<number[]> {
  const columns: (readonly number[])[] = [];
  for (const { key, reverse } of criteria) {
    const values = yield* VALUES[key](rows);
    columns.push(reverse ? values.map((value) => -value) : values);
  }
  const order = yield* sortInSteps([...rows.keys()], (one, other) => {
    for (const column of columns) {
      const difference = (column[one] ?? 0) - (column[other] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return order.map((index) => rows[index]?.number ?? 0);
}

/** Returns the date that the sender gave, or the internal date where that is not valid (RFC 5256 section 2.2). */
export function sentAt({ keys, internalAt }: { keys: Pick<SortKeys, 'sent'>; internalAt: number }): number {
  return keys.sent?.at ?? internalAt;
}

type TextKey = 'cc' | 'displayFrom' | 'displayTo' | 'from' | 'to' | 'baseSubject';

/** Returns the values of all rows by which they are compared. */
type Values = (rows: readonly SortRow[]) => Steps<number[]>;

const byFact = (read: (row: SortRow) => number): Values =>
  function* (rows) {
    const isDue = createStepCounter();
    const values: number[] = [];
    for (const row of rows) {
      values.push(read(row));
      if (isDue(1)) yield;
    }
    return values;
  };

/** Returns the place of each text among all different ones. */
const byText = (key: TextKey): Values =>
  function* (rows) {
    const isDue = createStepCounter();
    const places = new Map<string, number>();
    for (const { keys } of rows) {
      places.set(keys[key], 0);
      if (isDue(1)) yield;
    }
    const texts = yield* sortInSteps([...places.keys()], compareTexts);
    for (const [place, text] of texts.entries()) {
      places.set(text, place);
      if (isDue(1)) yield;
    }
    return rows.map(({ keys }) => places.get(keys[key]) ?? 0);
  };

const VALUES: Readonly<Record<SortKey, Values>> = {
  arrival: byFact(({ internalAt }) => internalAt),
  cc: byText('cc'),
  date: byFact(sentAt),
  displayFrom: byText('displayFrom'),
  displayTo: byText('displayTo'),
  from: byText('from'),
  size: byFact(({ sizeBytes }) => sizeBytes),
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
