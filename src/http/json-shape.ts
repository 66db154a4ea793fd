/**
 * The shape of a JSON text before it is parsed: how deep it nests and how many values it holds. What walks over a body
 * afterwards (checks, hashing, storing) is recursive and costs for each value, so a hostile shape is refused first:
 * three million tiny fields held the event loop for half a minute.
 */

export const MOST_NESTING = 64;
/** A batch of 100 emails with everything in it has well under this many. */
export const MOST_VALUES = 20_000;

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
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case QUOTE:
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

/** Index of the closing quote, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  let end = json.indexOf(QUOTE, start + 1);
  while (end > 0 && isEscaped(json, end)) end = json.indexOf(QUOTE, end + 1);
  return end < 0 ? json.length : end;
}

/** An odd run of backslashes before it. A run is counted once for its quote, so all runs together cost one pass. */
function isEscaped(json: Uint8Array, index: number): boolean {
  let backslashes = 0;
  while (json[index - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
