/** Makes the preview of a message (RFC 8970 section 3.3) from its visible text. */

/** Length of a preview in characters (RFC 8970 section 3.3). */
const MAX_PREVIEW_CHARACTERS = 200;
/** Maximum length of text that is read for a preview. Our own limit, for texts that begin with much empty space. */
const MAX_READ_CHARACTERS = 16_384;
/** Length of text that is read first. It is enough for the preview of nearly all messages. Our own choice. */
const FIRST_READ_CHARACTERS = 512;
/** Number of UTF-16 units in which the characters of a preview begin: two for each at most. */
const MAX_UNITS = 2 * MAX_PREVIEW_CHARACTERS;

/** Returns the preview: the first characters, in one line and without control characters. It is empty when nothing is visible. */
export function makePreview(text: string): string {
  const beginning = inOneLine(text.slice(0, FIRST_READ_CHARACTERS));
  const line =
    beginning.length > MAX_UNITS || text.length <= FIRST_READ_CHARACTERS
      ? beginning
      : inOneLine(text.slice(0, MAX_READ_CHARACTERS));
  return firstCharacters(line.slice(0, MAX_UNITS)).trimEnd();
}

/** A text without surrogates has one unit for each character, and need not be taken apart. */
function firstCharacters(text: string): string {
  if (!SURROGATE.test(text)) return text.slice(0, MAX_PREVIEW_CHARACTERS);
  return [...text].slice(0, MAX_PREVIEW_CHARACTERS).join('');
}

const SURROGATE = /[\ud800-\udfff]/;

function inOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
