/**
 * Converts cells between files and lists. Spreadsheets execute a cell that begins like a formula, so such cells are
 * written with an apostrophe before them (OWASP, CSV injection). Reading removes the apostrophe, so that exported
 * values come back unchanged.
 */
import { AppError } from '../system/errors.ts';
import { plainForm } from './plain-form.ts';
import { NO_WORDS, YES_WORDS } from './products/words.ts';

/** First characters of a formula in OWASP's list, with the line feed that was added to it later. */
const LOOKS_LIKE_FORMULA = /^[=+\-@\t\r\n]/;
/** A plain number is not a formula, and an apostrophe would turn it into text. */
const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
/** An apostrophe that writing has added, before a formula or before a text that itself begins with an apostrophe. */
const GUARDED = /^'(?=[=+\-@\t\r\n'])/;

/** White space, the byte order mark and characters without width, which copied texts have at their ends. */
const BLANK = /[\s\ufeff\u180e\u200b-\u200d\u2060]/;

/** Returns a text without blank characters at its ends, in linear time. Most texts begin and end with a visible ASCII character. */
export function trimText(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start++;
  while (end > start && isBlank(text, end - 1)) end--;
  return text.slice(start, end);
}

function isBlank(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit <= 0x20 || (unit >= 0x7f && BLANK.test(text.charAt(index)));
}

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

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...YES_WORDS.map((word): [string, boolean] => [plainForm(word), true]),
  ...NO_WORDS.map((word): [string, boolean] => [plainForm(word), false]),
]);

/** Returns the boolean of a word in its plain form; undefined when it is neither yes nor no. */
export function findBoolean(plainWord: string): boolean | undefined {
  return BOOLEANS.get(plainWord);
}

/**
 * Returns the boolean of a cell; undefined for an empty cell, which leaves the field unchanged.
 * @throws AppError validation_error naming the column
 */
export function readYesNoCell(column: string, cell: string): boolean | undefined {
  const text = trimText(cell);
  if (text === '') return undefined;
  const value = findBoolean(plainForm(text));
  if (value !== undefined) return value;
  throw new AppError('validation_error', `\`${column}\` must be true, false, 1, 0, yes or no`);
}
