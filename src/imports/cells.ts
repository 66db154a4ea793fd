/**
 * Converts cells between files and lists. Spreadsheets execute a cell that begins like a formula, so such cells are
 * written with an apostrophe before them (OWASP, CSV injection). Reading removes the apostrophe, so that exported
 * values come back unchanged.
 */
import { AppError } from '../system/errors.ts';

/** First characters of a formula in OWASP's list, with the line feed that was added to it later. */
const LOOKS_LIKE_FORMULA = /^[=+\-@\t\r\n]/;
/** A plain number is not a formula, and an apostrophe would turn it into text. */
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
/** An apostrophe that writing has added, before a formula or before a text that itself begins with an apostrophe. */
const GUARDED = /^'(?=[=+\-@\t\r\n'])/;

/** Returns the cell for a text, in a form that no program reads as a formula, a number or an empty value. */
export function guardText(text: string): string {
  if (text === '') return "'";
  const isSafe = !LOOKS_LIKE_FORMULA.test(text) || PLAIN_NUMBER.test(text);
  return isSafe && !text.startsWith("'") ? text : `'${text}`;
}

/** Returns the text of a cell; undefined for an empty cell, which leaves the field unchanged. */
export function readTextCell(cell: string): string | undefined {
  if (cell === '') return undefined;
  return cell === "'" ? '' : cell.replace(GUARDED, '');
}

/**
 * Returns the cell for a value of any type. `true` and `false` are booleans unless an apostrophe marks them as text.
 */
export function guardValue(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  return isBooleanWord(value) ? `'${value}` : guardText(value);
}

/** Returns the value of a cell of any type; undefined for an empty cell, which leaves the field unchanged. */
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

/**
 * Returns the boolean of a cell; undefined for an empty cell, which leaves the field unchanged.
 * @throws AppError validation_error naming the column
 */
export function readYesNoCell(column: string, cell: string): boolean | undefined {
  const word = cell.trim().toLowerCase();
  if (word === '') return undefined;
  const value = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (value !== undefined) return value;
  throw new AppError('validation_error', `\`${column}\` must be true, false, 1, 0, yes or no`);
}
