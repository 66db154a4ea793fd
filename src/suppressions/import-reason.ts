/** Reads the reason of a row. Other products write it as a word, as the reply of a server, or by filling a column. */
import type { SuppressionReason } from '../db/marketing-tables.ts';
import { findBoolean } from '../imports/cells.ts';
import { byPlainForm, plainForm } from '../imports/plain-form.ts';
import { REASON_TEXTS, REASON_WORDS } from '../imports/products/suppression-names.ts';
import { NOTHING_WORDS } from '../imports/products/words.ts';
import { readTime } from '../imports/times.ts';
import { strongerOf } from './store.ts';

const REASONS = Object.keys(REASON_WORDS) as SuppressionReason[];
const WORDS = byPlainForm(REASONS.map((reason) => [REASON_WORDS[reason], reason]));
const NOTHING = new Set(['', ...NOTHING_WORDS.map(plainForm)]);
/** Maximum number of characters of a text that are searched for a reason. */
const MAX_SEARCHED_CHARACTERS = 500;

/** A cell that tells its reason by having a value. */
type Mark = { cell: string; reason: SuppressionReason };

/** Returns the strongest reason that the cells name or tell; undefined when none is understood. */
export function findReason(cells: readonly string[], marks: readonly Mark[]): SuppressionReason | undefined {
  const reasons = [
    ...cells.map(reasonOf),
    ...marks.map(({ cell, reason }) => (hasValue(cell) ? reason : undefined)),
  ];
  return reasons.reduce(
    (best, reason) => (best && reason ? strongerOf(best, reason) : (best ?? reason)),
    undefined,
  );
}

/** Returns true for a text that is more than the name of a reason, and no time. */
export function isDiagnostic(text: string): boolean {
  return text !== '' && !WORDS.has(plainForm(text)) && readTime(text) === undefined;
}

function reasonOf(cell: string): SuppressionReason | undefined {
  const word = WORDS.get(plainForm(cell));
  if (word || cell === '') return word;
  const start = cell.slice(0, MAX_SEARCHED_CHARACTERS);
  return REASON_TEXTS.find(({ pattern }) => pattern.test(start))?.reason;
}

function hasValue(cell: string): boolean {
  const plain = plainForm(cell);
  return !NOTHING.has(plain) && findBoolean(plain) !== false;
}
