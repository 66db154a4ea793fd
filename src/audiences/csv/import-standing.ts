/**
 * Reads from the columns of consent whether the reader of a row has subscribed, must confirm first, or has left. When columns
 * disagree, nobody is subscribed: one column that says the reader has left is enough. A value that is not understood refuses the row.
 */
import { findBoolean, trimText } from '../../imports/cells.ts';
import { type Heading, quote } from '../../imports/headings.ts';
import { byPlainForm, plainForm } from '../../imports/plain-form.ts';
import {
  AMBIGUOUS_CONSENT_NAMES,
  CONSENT_NAMES,
  CONSENT_RULES,
  type ConsentKind,
  NOT_OF_THE_READER,
} from '../../imports/products/consent-columns.ts';
import {
  CLEAR_OPT_OUT_WORDS,
  STANDING_WORDS,
  type Standing,
  SUBSCRIBED_WORDS_OF_OPT_OUT,
} from '../../imports/products/consent-words.ts';
import { NOTHING_WORDS } from '../../imports/products/words.ts';
import { readTime } from '../../imports/times.ts';
import { AppError } from '../../system/errors.ts';

export type ConsentColumn = {
  column: number;
  heading: string;
  kind: ConsentKind;
  /** True when the column may mean something else: what is not understood says nothing, and the cell is a property as well. */
  isAmbiguous: boolean;
  /** True when a no tells of a choice: who has not bounced has chosen nothing by that. */
  isChoice: boolean;
};

const KINDS = Object.keys(CONSENT_NAMES) as ConsentKind[];
const NAMES = byPlainForm(KINDS.map((kind) => [CONSENT_NAMES[kind], kind]));
const AMBIGUOUS_NAMES = byPlainForm(KINDS.map((kind) => [AMBIGUOUS_CONSENT_NAMES[kind] ?? [], kind]));
const WORDS = byPlainForm(
  (Object.keys(STANDING_WORDS) as Standing[]).map((standing) => [STANDING_WORDS[standing], standing]),
);
const WORDS_OF_OPT_OUT = new Set(SUBSCRIBED_WORDS_OF_OPT_OUT.map(plainForm));
const NOTHING = new Set(['', ...NOTHING_WORDS.map(plainForm)]);
const CLEAR = new Set(CLEAR_OPT_OUT_WORDS.map(plainForm));
const CLEAR_LENGTHS = CLEAR_OPT_OUT_WORDS.map((word) => word.length);
const MIN_CLEAR_CHARACTERS = Math.min(...CLEAR_LENGTHS) - 1;
const MAX_CLEAR_CHARACTERS = Math.max(...CLEAR_LENGTHS) + 2;

/** Returns true for the name of a kind, which a mapping can give as a field. */
export function isConsentKind(field: string): field is ConsentKind {
  return Object.hasOwn(CONSENT_NAMES, field);
}

/** Returns what a heading says about consent; undefined when it is about something else. */
export function findConsent({ column, text, plain }: Heading): ConsentColumn | undefined {
  if (plain === '') return undefined;
  const ambiguous = AMBIGUOUS_NAMES.get(plain);
  const kind =
    NAMES.get(plain) ?? ambiguous ?? CONSENT_RULES.find(({ pattern }) => pattern.test(plain))?.kind;
  if (!kind) return undefined;
  const isAmbiguous = ambiguous !== undefined && !NAMES.has(plain);
  return { column, heading: text, kind, isAmbiguous, isChoice: isChoice(plain) };
}

/** Returns the column of a heading to which the request gives a kind. */
export function givenConsent({ column, text, plain }: Heading, kind: ConsentKind): ConsentColumn {
  return { column, heading: text, kind, isAmbiguous: false, isChoice: isChoice(plain) };
}

function isChoice(plain: string): boolean {
  return !NOT_OF_THE_READER.test(plain);
}

/** Returns true for a heading of consent, be it to mail, to another channel, or a fact about the choice. */
export function isAboutConsent({ plain }: Heading): boolean {
  return (
    NAMES.has(plain) || AMBIGUOUS_NAMES.has(plain) || CONSENT_RULES.some(({ pattern }) => pattern.test(plain))
  );
}

/**
 * Returns how the reader of a row stands; undefined when no column says anything.
 * @throws AppError validation_error for a value that is not understood, and for a row that should say who has subscribed and does
 *   not, unless another column says that the reader has left
 */
export function readStanding(
  columns: readonly ConsentColumn[],
  cells: readonly string[],
): Standing | undefined {
  const found = new Set<Standing>();
  let refused: ConsentColumn | undefined;
  let silent: ConsentColumn | undefined;
  for (const column of columns) {
    const standing = readCell(column, cells[column.column] ?? '');
    if (standing === 'unsubscribed') return standing;
    if (standing === 'subscribed' || standing === 'pending') found.add(standing);
    else if (column.isAmbiguous) continue;
    else if (standing === 'unknown') refused ??= column;
    else if (column.kind === 'status' || column.kind === 'subscribed') silent ??= column;
  }
  if (found.size === 0) refused ??= silent;
  if (refused) throw notUnderstood(refused, cells[refused.column] ?? '');
  return found.has('pending') ? 'pending' : found.has('subscribed') ? 'subscribed' : undefined;
}

/** Returns what a cell says; undefined when it says nothing. */
function readCell({ kind, isChoice }: ConsentColumn, cell: string): Standing | 'unknown' | undefined {
  const text = trimText(cell);
  const plain = plainForm(text);
  if (NOTHING.has(plain)) return undefined;
  switch (kind) {
    case 'status':
      return WORDS.get(plain) ?? 'unknown';
    case 'subscribed':
      return readSubscribed(plain) ?? (isDate(text) ? 'subscribed' : 'unknown');
    case 'unsubscribed':
      return readUnsubscribed(text, plain, isChoice);
    case 'unsubscribedAt':
      return findBoolean(plain) === false ? undefined : 'unsubscribed';
  }
}

function readSubscribed(plain: string): Standing | undefined {
  const flag = findBoolean(plain);
  if (flag === undefined) return WORDS.get(plain);
  return flag ? 'subscribed' : 'unsubscribed';
}

function readUnsubscribed(text: string, plain: string, isChoice: boolean): Standing | 'unknown' | undefined {
  const flag = findBoolean(plain);
  if (flag === false) return isChoice ? 'subscribed' : undefined;
  if (flag) return 'unsubscribed';
  if (WORDS_OF_OPT_OUT.has(plain)) return 'subscribed';
  const word = WORDS.get(plain);
  if (word === 'unsubscribed' || word === 'pending') return word;
  return isDate(text) ? 'unsubscribed' : 'unknown';
}

/** The beginning of a date in any order: `02/01/2026`, `2.1.26`, `Jan 2, 2026`, `2 January 2026`. */
const DATE =
  /^(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\p{L}{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.? \p{L}{3,9}\.? \d{4})(?!\d)/u;

/** Returns true for a date. Which day it is does not matter. */
function isDate(text: string): boolean {
  return readTime(text) !== undefined || DATE.test(text);
}

const ALLOWED: Readonly<Record<ConsentKind, string>> = {
  status: 'a status such as subscribed, active, pending, unsubscribed, blocklisted or bounced',
  subscribed: 'true, false, 1, 0, yes or no, a status such as subscribed or pending, or a time',
  unsubscribed: 'true, false, 1, 0, yes or no, a status such as subscribed or unsubscribed, or a time',
  unsubscribedAt: 'a time or a text',
};

function notUnderstood({ heading, kind }: ConsentColumn, cell: string): AppError {
  return new AppError(
    'validation_error',
    `\`${quote(heading)}\` must be ${ALLOWED[kind]}, not \`${quote(cell)}\`; \`mapping\` can leave the column out or make it a property`,
  );
}

/**
 * Refuses a cell that says that a reader has left, in a column that nobody recognised as consent.
 * @throws AppError validation_error
 */
export function refuseClearOptOut(heading: string, cell: string): void {
  if (cell.length < MIN_CLEAR_CHARACTERS || cell.length > MAX_CLEAR_CHARACTERS) return;
  if (!CLEAR.has(plainForm(cell))) return;
  throw new AppError(
    'validation_error',
    `\`${quote(heading)}\` is \`${quote(cell)}\`, but is not known as a column of consent; \`mapping\` can make it a \`status\` or a property`,
  );
}
