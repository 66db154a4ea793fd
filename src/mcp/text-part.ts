/** Shows a long text in parts. */

/** Maximum length of a part, which fits into an answer. */
const MAX_PART_CHARACTERS = 10_000;

type TextPart = { text: string; offset: number; end: number };

/** Returns the part of a text that begins at an offset. */
export function textPart(text: string, offset: number): TextPart {
  const end = Math.min(text.length, offset + MAX_PART_CHARACTERS);
  return { text: text.slice(offset, end), offset, end };
}

/** Returns a sentence on which part of the text is shown, and how to see the next. */
export function saysPart({ offset, end }: TextPart, { length }: string): string {
  if (offset === 0 && end === length) return 'The whole text is shown.';
  const more = end < length ? ` Call again with offset ${end} to see more.` : '';
  return `The text has ${length} characters; those from ${offset} to ${end} are shown.${more}`;
}
