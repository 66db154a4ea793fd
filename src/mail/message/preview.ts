/** Makes the preview of a message (RFC 8970 section 3.3) from its visible text. */

/** Length of a preview in characters (RFC 8970 section 3.3). */
const MAX_PREVIEW_CHARACTERS = 200;
/** Maximum length of text that is read for a preview. Our own limit, for texts that begin with much empty space. */
const MAX_READ_CHARACTERS = 16_384;

/** Returns the preview: the first characters, in one line and without control characters. It is empty when nothing is visible. */
export function makePreview(text: string): string {
  const line = text
    .slice(0, MAX_READ_CHARACTERS)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return [...line.slice(0, 2 * MAX_PREVIEW_CHARACTERS)].slice(0, MAX_PREVIEW_CHARACTERS).join('').trimEnd();
}
