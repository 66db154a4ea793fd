/**
 * Checks the shape of a JSON text before it is parsed: its nesting, its number of values, and duplicate member names.
 * The code that processes a body later (checks, hashing, storage) is recursive and its cost grows with each value, so
 * a hostile shape is refused first: three million tiny fields blocked the event loop for half a minute.
 */

/** Maximum nesting of objects and lists. */
export const MAX_NESTING = 64;
/**
 * Maximum number of values. A batch of 100 emails with the maximum of addresses, headers, tags, variables and
 * attachments contains 37,000.
 */
export const MAX_VALUES = 40_000;
/**
 * Maximum number of strings: each value may have a key. Strings are counted separately, because an invalid text may
 * have nothing between them.
 */
export const MAX_STRINGS = 2 * MAX_VALUES;
/**
 * Maximum size of a field name, with its quotes and escapes: 256 characters, the longest key of a tag, take at most 3 KiB.
 * Refusals and error paths copy names, and escape each character.
 */
export const MAX_NAME_BYTES = 16 * 1024;
/** Maximum number of bytes of a name that an error message shows. */
const MAX_QUOTED_BYTES = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Returns the violation as the end of the sentence "The body must not …"; undefined when there is none. It does not
 * check the syntax. Duplicate names are refused, because one parser uses the last member and another the first (RFC
 * 8259 section 4).
 */
export function findShapeViolation(json: Buffer): string | undefined {
  /** Names of the members of each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  let values = 0;
  let strings = 0;
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case QUOTE: {
        if (++strings > MAX_STRINGS) return `hold more than ${MAX_VALUES} values`;
        const end = endOfString(json, index);
        if (isName && end - index > MAX_NAME_BYTES)
          return `have a field name of more than ${MAX_NAME_BYTES / 1024} KiB`;
        if (isName && !addName(open.at(-1), readName(json, index, end))) {
          const name = json.toString('utf8', index + 1, Math.min(end, index + MAX_QUOTED_BYTES));
          return `name \`${name}\` twice in one object`;
        }
        isName = false;
        index = end;
        break;
      }
      case COMMA:
        if (++values > MAX_VALUES) return `hold more than ${MAX_VALUES} values`;
        isName = open.at(-1) !== undefined;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++values > MAX_VALUES) return `hold more than ${MAX_VALUES} values`;
        isName = json[index] === OPEN_BRACE;
        if (open.push(isName ? new Set() : undefined) > MAX_NESTING) {
          return `be nested deeper than ${MAX_NESTING} levels`;
        }
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        isName = false;
        break;
    }
  }
  return undefined;
}

/**
 * Returns the bytes of the name between two quotes, because decoding every name costs more than everything else. Returns
 * undefined when the name is not a JSON string, which the parser then refuses.
 */
function readName(json: Buffer, start: number, end: number): string | undefined {
  const bytes = json.toString('latin1', start + 1, end);
  return bytes.includes('\\') ? withoutEscapes(json.toString('utf8', start, end + 1)) : bytes;
}

/** Adds a name to the names of its object. Returns false when it is there already. */
function addName(names: Set<string> | undefined, name: string | undefined): boolean {
  if (name === undefined || !names) return true;
  if (names.has(name)) return false;
  names.add(name);
  return true;
}

/** Returns the bytes of an escaped name; undefined when it is not a JSON string, which the parser then refuses. */
function withoutEscapes(quoted: string): string | undefined {
  try {
    return Buffer.from(String(JSON.parse(quoted))).toString('latin1');
  } catch {
    return undefined;
  }
}

/**
 * Number of bytes that are compared one by one before `indexOf` is called. A string of escaped quotes would otherwise
 * cost one call for each.
 */
const NEAR_BYTES = 64;

/** Returns the index of the closing quote of the string that opens at `start`, or the end of the text. */
export function endOfString(json: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < json.length) {
    const near = Math.min(index + NEAR_BYTES, json.length);
    for (; index < near; index++) {
      if (json[index] === QUOTE) return index;
      if (json[index] === BACKSLASH) index++;
    }
    const quote = json.indexOf(QUOTE, index);
    if (quote < 0) return json.length;
    if (!isEscaped(json, quote)) return quote;
    index = quote + 1;
  }
  return json.length;
}

/**
 * Returns true when an odd number of backslashes precedes the index. Each run is counted once, for its quote, so all
 * runs together cost one pass.
 */
function isEscaped(json: Uint8Array, index: number): boolean {
  let backslashes = 0;
  while (json[index - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
