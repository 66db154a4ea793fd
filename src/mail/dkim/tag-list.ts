/** Tag lists, the syntax of DKIM signatures and of key records (RFC 6376 section 3.2). */

/** Characters that may stand around names and values: white space, also folded. */
const WHITE_SPACE = ' \t\r\n';
const TAG_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/**
 * Returns the tags by name, in their order, with the white space around their values removed. Returns undefined when the
 * text is not a tag list; a tag that occurs twice makes the whole list invalid. Names are case-sensitive.
 */
export function parseTagList(text: string): Map<string, string> | undefined {
  const entries = text.split(';');
  if (trimWhiteSpace(entries.at(-1) ?? '') === '') entries.pop();
  return readTags(entries);
}

/**
 * Returns the tags of a key record as `parseTagList` does, and ignores semicolons that nothing stands between. People publish records that
 * end in `;;`, and other verifiers read them.
 */
export function parseRecordTags(text: string): Map<string, string> | undefined {
  return readTags(text.split(';').filter((entry) => trimWhiteSpace(entry) !== ''));
}

function readTags(entries: readonly string[]): Map<string, string> | undefined {
  const tags = new Map<string, string>();
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    const name = trimWhiteSpace(entry.slice(0, equals));
    if (equals < 0 || !TAG_NAME.test(name) || tags.has(name)) return undefined;
    tags.set(name, trimWhiteSpace(entry.slice(equals + 1)));
  }
  return tags;
}

/** Returns the items of a colon-separated list, without the white space around them. */
export function parseTagItems(value: string): string[] {
  return value.split(':').map(trimWhiteSpace);
}

/** Removes white space that a value may contain anywhere, such as one in base64. */
export function withoutWhiteSpace(value: string): string {
  return value.replace(/[ \t\r\n]+/g, '');
}

/**
 * Removes the white space around a text, in linear time. A regular expression that looks for it at the end would try
 * again at each character of a long run in the middle.
 */
export function trimWhiteSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && WHITE_SPACE.includes(text.charAt(start))) start++;
  while (end > start && WHITE_SPACE.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
