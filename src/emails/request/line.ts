/** Makes a line of a text. Threads of the database load this file, so it imports nothing. */

/** Control characters: C0 without the tab, and DEL. */
export const CONTROL_CHARACTERS = /[^\P{Cc}\t\u0080-\u009f]+/gu;

/** Returns the text on one line: each run of control characters becomes a space. */
export function asLine(text: string): string {
  return text.replace(CONTROL_CHARACTERS, ' ');
}
