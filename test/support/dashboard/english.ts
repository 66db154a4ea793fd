/** Finds English sentences on a page in another language that do not say that they are English. */

/** Elements whose text is no text of ours: it is quoted, entered by people, or named as English. */
const NO_TEXT_OF_OURS = [
  /<head>.*?<\/head>/gs,
  /<(script|style|code|pre|textarea|bdi)\b[^>]*>.*?<\/\1>/gs,
  /<(\w+)\b[^>]* lang="en"[^>]*>.*?<\/\1>/gs,
  // Options and links have names that people have given.
  /<option\b[^>]*>.*?<\/option>/gs,
];

/** Words that English sentences have, and that are none in German. */
const ENGLISH = /\b(?:the|is|are|must|not|and|of|with|has|have|this|that|cannot|your)\b/;

/** Elements whose text is quoted, or a name that the API and people share. The choices of a form have words. */
const NO_WORDS = [
  ...NO_TEXT_OF_OURS.slice(0, 3),
  // Sections of the configuration have the names that stand in its file.
  /<select name="section">.*?<\/select>/gs,
];

/**
 * Returns the words of a page that are values of the API as they are, such as `deferred`. `values` are those of its enumerations. A word of
 * ours that is written in the same way in German would be in the catalogue, which no page has by accident.
 */
export function findRawValues(html: string, values: ReadonlySet<string>): string[] {
  const shown = NO_WORDS.reduce((text, pattern) => text.replace(pattern, ' '), html);
  return shown
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => values.has(text));
}

/** Returns the texts of a page that are in English. */
export function findEnglish(html: string): string[] {
  const ours = NO_TEXT_OF_OURS.reduce((text, pattern) => text.replace(pattern, ' '), html);
  const attributes = [...ours.matchAll(/ (?:aria-label|title|placeholder|alt)="([^"]*)"/g)].map(
    ([, value = '']) => value,
  );
  return [...ours.split(/<[^>]*>/), ...attributes]
    .map((text) => text.trim())
    .filter((text) => ENGLISH.test(text));
}
