/** Says which names folders can have. Names are decoded: `/` separates levels. */

/** Maximum length of a name with all its levels. File systems, which other servers use, allow 255 octets for a level. */
export const MAX_NAME_CHARACTERS = 1_000;

/** Broken programs create such folders. */
export const INBOX_IN_INBOX = /^INBOX\/INBOX(?=\/|$)/i;

/** Returns why a folder cannot have this name; undefined when it can. Clients cannot tell names with empty levels apart. */
export function problemOfName(name: string): string | undefined {
  if (name === '') return 'The name is empty';
  if (name.length > MAX_NAME_CHARACTERS) return `The name is longer than ${MAX_NAME_CHARACTERS} characters`;
  if (name.split('/').includes('')) return 'The name has an empty level';
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) return 'The name has characters that are not allowed';
  return INBOX_IN_INBOX.test(name) ? 'INBOX cannot be inside INBOX' : undefined;
}
