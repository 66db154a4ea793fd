/**
 * The shape of a JSON text before it is parsed: how deep it nests, how many values it holds, and whether an object names
 * one of its members twice. What walks over a body afterwards (checks, hashing, storing) is recursive and costs for each
 * value, so a hostile shape is refused first: three million tiny fields held the event loop for half a minute.
 */

export const MAX_NESTING = 64;
/** A batch of 100 emails, each with every address, header, tag, variable and attachment it may have, holds 37,000. */
export const MAX_VALUES = 40_000;
/** Each value may have a key. Counted by itself because a broken text need not have anything between its strings. */
export const MAX_STRINGS = 2 * MAX_VALUES;
/**
 * Maximum size of a field name, with its quotes and escapes: 256 characters, the longest key of a tag, take at most 3 KiB.
 * Refusals and error paths copy names, and escape each character.
 */
export const MAX_NAME_BYTES = 16 * 1024;
/** Of a name, in what is said of it. */
const MAX_SAID_BYTES = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * What is too much about it, for people; undefined when nothing is. Does not check the syntax. Of two members of one name
 * a parser keeps the last, and another reader of the same text the first (RFC 8259 4): neither may be what was meant.
 */
export function findShapeViolation(json: Buffer): string | undefined {
  /** The names of each object that is open; undefined for a list. */
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
        if (isName && !isNew(json, index, end, open.at(-1))) {
          const name = json.toString('utf8', index + 1, Math.min(end, index + MAX_SAID_BYTES));
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

/** The name between two quotes, among those of its object. As bytes: to make text of it costs more than all the rest. */
function isNew(json: Buffer, start: number, end: number, names: Set<string> | undefined): boolean {
  const bytes = json.toString('latin1', start + 1, end);
  const name = bytes.includes('\\') ? withoutEscapes(json.toString('utf8', start, end + 1)) : bytes;
  if (name === undefined || !names) return true;
  if (names.has(name)) return false;
  names.add(name);
  return true;
}

/** The bytes of what it stands for; undefined for what is no JSON string: the parser judges it. */
function withoutEscapes(quoted: string): string | undefined {
  try {
    return Buffer.from(String(JSON.parse(quoted))).toString('latin1');
  } catch {
    return undefined;
  }
}

/** Looked at one by one before a search is worth its call: a string of escaped quotes alone would be all calls. */
const NEAR_BYTES = 64;

/** Index of the closing quote of the string that opens at `start`, or the end of the text. */
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

/** An odd run of backslashes before it. A run is counted once for its quote, so all runs together cost one pass. */
function isEscaped(json: Uint8Array, index: number): boolean {
  let backslashes = 0;
  while (json[index - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
