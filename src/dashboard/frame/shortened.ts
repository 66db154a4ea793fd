/** Cuts texts of strangers, which may be very long, where a page needs only their beginning. */

/** Returns a text whose end is cut off when it is longer than so many characters. A character is never cut in half. */
export function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(maxCharacters - 1));
  return `${text.slice(0, isHalf ? maxCharacters - 1 : maxCharacters)}…`;
}
