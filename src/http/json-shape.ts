/**
 * The shape of a JSON text before it is parsed: how deep it nests and how many values it holds. What walks over a body
 * afterwards (checks, hashing, storing) is recursive and costs for each value, so a hostile shape is refused first:
 * three million tiny fields held the event loop for half a minute.
 */

export const MOST_NESTING = 64;
/** A batch of 100 emails with everything in it has well under this many. */
export const MOST_VALUES = 20_000;
/** Each value may have a key. Counted by itself because a broken text need not have anything between its strings. */
export const MOST_STRINGS = 2 * MOST_VALUES;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What is too much about it, for people; undefined when nothing is. Does not check the syntax. */
export function excessOf(json: Uint8Array): string | undefined {
  let depth = 0;
  let values = 0;
  let strings = 0;
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case QUOTE:
        if (++strings > MOST_STRINGS) return `hold more than ${MOST_VALUES} values`;
        index = endOfString(json, index);
        break;
      case COMMA:
        if (++values > MOST_VALUES) return `hold more than ${MOST_VALUES} values`;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++values > MOST_VALUES) return `hold more than ${MOST_VALUES} values`;
        if (++depth > MOST_NESTING) return `be nested deeper than ${MOST_NESTING} levels`;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
    }
  }
  return undefined;
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
