/**
 * SQL functions of our own: what SQLite says differently from this program, or cannot say. Each is also called by whoever
 * binds a value to compare with its results, so that both sides are read by the same rule. Calling one costs about four
 * times what a function of SQLite does: a query asks only for what a cheaper test has let through.
 */
import type { Database } from 'better-sqlite3';
import { parseTimestamp } from '../system/clock.ts';

/** On one connection; each gives one answer for one text, and none may stand in a schema. */
export function defineFunctions(database: Database): void {
  const options = { deterministic: true, directOnly: true };
  database.function('fold_case', options, (text: unknown) =>
    typeof text === 'string' ? foldCase(text) : null,
  );
  database.function('plain_decimal', options, (text: unknown) =>
    typeof text === 'string' ? (readDecimal(text) ?? null) : null,
  );
  database.function('timestamp_ms', options, (text: unknown) =>
    typeof text === 'string' ? (parseTimestamp(text) ?? null) : null,
  );
}

/** The only two letters that lose to ASCII when lower-cased: the dotted capital I and the Kelvin sign. */
const LOWERED = /[^\u0130\u212a]+/g;

/**
 * Without case, character by character: no letter folds differently for what stands beside it. ASCII folds to ASCII as
 * SQLite's `lower` does it, and nothing else to it: what is all ASCII on either side of a comparison needs no more than
 * `lower`. Characters are not composed or decomposed.
 */
export function foldCase(text: string): string {
  return text.replace(LOWERED, (letters) => letters.toLowerCase()).replaceAll('ς', 'σ');
}

/** More digits are the name of something, and a double would not tell two of them apart. */
const MAX_DIGITS = 15;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** A number as people write it, `-12.50`; undefined for anything else: `1e3`, `+1`, and codes such as `007`. */
export function readDecimal(text: string): number | undefined {
  // A sign and a point besides.
  if (text.length > MAX_DIGITS + 2 || !DECIMAL.test(text)) return undefined;
  const digits = text.replace(/[-.]/g, '').length;
  return digits > MAX_DIGITS ? undefined : Number(text) + 0;
}
