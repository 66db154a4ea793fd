/** Detects the delimiter of a file: Excel may name it in a line of its own, otherwise the heading line shows it. */

/** The first delimiter is used when none is more frequent; a heading line of one cell has none. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** The line `sep=;`, which Excel obeys and never shows. Some programs put it into quotes. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?(?:\r\n|\n|\r(?!\n))/i;
/** Length that every file whose first line is no separator line can be told by. */
const SEPARATOR_LINE_BYTES = '"sep=;"\r\n'.length;

/**
 * Returns the delimiter that the first line names, and the length of that line; undefined when the first line names none, or when
 * `start` is too short to tell.
 */
export function findSeparatorLine(start: Buffer): { delimiter: Delimiter; bytes: number } | undefined {
  const [line, delimiter] = SEPARATOR_LINE.exec(start.toString('latin1', 0, SEPARATOR_LINE_BYTES + 1)) ?? [];
  return line === undefined ? undefined : { delimiter: delimiter as Delimiter, bytes: line.length };
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Returns the delimiter, or undefined while `start` does not contain the whole heading line. `start` is the beginning
 * of the file, and `isWhole` tells that the file ends there.
 */
export function findDelimiter(start: Buffer, isWhole: boolean): Delimiter | undefined {
  const counts = new Map<number, number>(DELIMITERS.map((delimiter) => [delimiter.charCodeAt(0), 0]));
  let isQuoted = false;
  let hasBegun = false;
  let hasEnded = false;
  for (const octet of start) {
    if (octet === QUOTE) isQuoted = !isQuoted;
    const isBreak = !isQuoted && (octet === LINE_FEED || octet === CARRIAGE_RETURN);
    if (isBreak && hasBegun) {
      hasEnded = true;
      break;
    }
    hasBegun ||= !isBreak;
    const count = counts.get(octet);
    if (count !== undefined && !isQuoted) counts.set(octet, count + 1);
  }
  if (!hasEnded && !isWhole) return undefined;
  const countOf = (delimiter: Delimiter) => counts.get(delimiter.charCodeAt(0)) ?? 0;
  return DELIMITERS.reduce((best, delimiter) => (countOf(delimiter) > countOf(best) ? delimiter : best));
}
