/**
 * Splits the header of a received message into its fields. The reading is the one that is the least useful to a
 * forger: a line that other programs may take for a field is one.
 */

import { trimWhiteSpace } from '../tag-list.ts';

export type HeaderField = {
  /** Name in lower case, without the white space that may stand before the colon (RFC 5322 section 4.5). */
  name: string;
  /** The whole field, one character for each octet, with its folds and without its last CRLF. */
  text: string;
};

/** Matches the beginning of a field (RFC 5322 section 3.6.8). A fold may stand before the colon. */
const FIELD_START = /^[!-9;-~]+[ \t\r\n]*:/;

/**
 * Returns the fields from top to bottom. `header` has CRLF line ends. A line that begins no field belongs to the field
 * above it, so it can break a signature but never hide from it.
 */
export function splitFields(header: string): HeaderField[] {
  const texts: string[] = [];
  for (const text of header.split(/\r\n(?![ \t])/)) {
    if (text === '') continue;
    if (texts.length === 0 || FIELD_START.test(text)) texts.push(text);
    else texts.push(`${texts.pop()}\r\n${text}`);
  }
  return texts.map((text) => ({ name: nameOf(text), text }));
}

/** Returns the value of a field: what follows its first colon. */
export function fieldValue({ text }: HeaderField): string {
  return text.slice(text.indexOf(':') + 1);
}

function nameOf(text: string): string {
  const colon = text.indexOf(':');
  return trimWhiteSpace(colon < 0 ? text : text.slice(0, colon)).toLowerCase();
}
