/**
 * Cells between a file and a list, both ways. A spreadsheet takes a cell that begins like a formula for one, so those are
 * written with an apostrophe before them (OWASP, CSV injection); reading takes it off again, so that what was exported comes
 * back as it was.
 */
import { AppError } from '../system/errors.ts';

/** OWASP's list, with the line feed it was extended by. */
const LOOKS_LIKE_FORMULA = /^[=+\-@\t\r\n]/;
/** Nothing is computed of a number, and one with an apostrophe would be text. */
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
/** What stands behind the apostrophe of a cell that was written with one: also a text that begins with one itself. */
const GUARDED = /^'(?=[=+\-@\t\r\n'])/;

/** What stands for a text: one that no program takes for anything else, or for nothing. */
export function guardText(text: string): string {
  if (text === '') return "'";
  const isSafe = !LOOKS_LIKE_FORMULA.test(text) || PLAIN_NUMBER.test(text);
  return isSafe && !text.startsWith("'") ? text : `'${text}`;
}

/** Undefined for an empty cell: nothing is said. */
export function readTextCell(cell: string): string | undefined {
  if (cell === '') return undefined;
  return cell === "'" ? '' : cell.replace(GUARDED, '');
}

/** A value of any kind: `true` and `false` are no texts, unless an apostrophe says so. */
export function guardValue(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  return isBooleanWord(value) ? `'${value}` : guardText(value);
}

export function readValueCell(cell: string): string | boolean | undefined {
  if (isBooleanWord(cell)) return cell === 'true';
  if (cell.startsWith("'") && isBooleanWord(cell.slice(1))) return cell.slice(1);
  return readTextCell(cell);
}

function isBooleanWord(text: string): boolean {
  return text === 'true' || text === 'false';
}

const WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  1: true,
  false: false,
  no: false,
  0: false,
};

/** @throws AppError validation_error naming the column */
export function readYesNoCell(column: string, cell: string): boolean | undefined {
  const word = cell.trim().toLowerCase();
  if (word === '') return undefined;
  const said = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (said !== undefined) return said;
  throw new AppError('validation_error', `\`${column}\` must be true, false, 1, 0, yes or no`);
}
