/**
 * Translates merge tags between Resend's spelling and ours. Resend writes every tag in three braces, such as `{{{FIRST_NAME|there}}}` or
 * `{{{contact.first_name|there}}}`. Those of our broadcasts are in two, because the values of contacts are escaped, and only
 * `{{{unsubscribe_url}}}` is in three.
 */

/** A name has at most 64 characters, and a fallback no braces, so that each character is examined a bounded number of times. */
const NAME = '[A-Za-z_][A-Za-z0-9_.]{0,63}';
const FALLBACK = String.raw`\|[^{}]*`;
const RESEND_TAG = new RegExp(String.raw`\{\{\{\s*(${NAME})\s*(${FALLBACK})?\}\}\}`, 'g');
const OUR_TAG = new RegExp(String.raw`(?<!\{)\{\{\s*(${NAME})\s*(${FALLBACK})?\}\}(?!\})`, 'g');
const OUR_UNSUBSCRIBE_TAG = new RegExp(String.raw`\{\{\{\s*unsubscribe_url\s*(?:${FALLBACK})?\}\}\}`, 'g');
const RESEND_UNSUBSCRIBE_TAG = new RegExp(
  String.raw`\{\{\{\s*RESEND_UNSUBSCRIBE_URL\s*(?:${FALLBACK})?\}\}\}`,
  'g',
);

export const UNSUBSCRIBE_URL = 'unsubscribe_url';
export const RESEND_UNSUBSCRIBE_URL = 'RESEND_UNSUBSCRIBE_URL';

/** Our names of the fields of a contact, by each name that Resend has for them. The first name for a field is the one that is shown. */
const FIELDS: readonly (readonly [theirs: string, ours: string])[] = [
  ['FIRST_NAME', 'firstName'],
  ['LAST_NAME', 'lastName'],
  ['EMAIL', 'email'],
  ['contact.first_name', 'firstName'],
  ['contact.last_name', 'lastName'],
  ['contact.email', 'email'],
];
const OUR_FIELDS = new Map(FIELDS);
const SHOWN_FIELDS = new Map(FIELDS.toReversed().map(([theirs, ours]) => [ours, theirs]));
/** Stands before the name of a property. */
const CONTACT = 'contact.';

/** A word of our conditions (`{{#if}}…{{else}}…{{/if}}`), which looks like a tag with a value. */
const ELSE = 'else';

/** Translates the tag of the unsubscribe link alone, for texts whose other tags are variables of an email. */
export function unsubscribeTagFromResend(text: string): string {
  return text.replace(RESEND_UNSUBSCRIBE_TAG, `{{{${UNSUBSCRIBE_URL}}}}`);
}

/** The opposite of `unsubscribeTagFromResend`. */
export function unsubscribeTagToResend(text: string): string {
  return text.replace(OUR_UNSUBSCRIBE_TAG, `{{{${RESEND_UNSUBSCRIBE_URL}}}}`);
}

/** True for a text that has the tag of the unsubscribe link, in our spelling. */
export function hasUnsubscribeTag(text: string): boolean {
  return text.search(OUR_UNSUBSCRIBE_TAG) >= 0;
}

/** Returns the text of a broadcast with our tags. A tag of ours stays as it is. */
export function tagsFromResend(text: string): string {
  return text.replace(RESEND_TAG, (tag, name: string, fallback = '') => {
    if (name === UNSUBSCRIBE_URL) return tag;
    if (name === RESEND_UNSUBSCRIBE_URL) return `{{{${UNSUBSCRIBE_URL}}}}`;
    return `{{${OUR_FIELDS.get(name) ?? withoutContact(name)}${fallback}}}`;
  });
}

/**
 * Returns the text of a broadcast with Resend's tags. Translating the result back gives the same text. Conditions, and tags that say how a
 * value is encoded in a URL, stay as they are, because Resend has none.
 */
export function tagsToResend(text: string): string {
  const translated = text.replace(OUR_TAG, (tag, name: string, fallback = '') =>
    name === ELSE ? tag : `{{{${SHOWN_FIELDS.get(name) ?? `${CONTACT}${name}`}${fallback}}}}`,
  );
  return unsubscribeTagToResend(translated);
}

function withoutContact(name: string): string {
  return name.startsWith(CONTACT) ? name.slice(CONTACT.length) : name;
}
