/** Reads the header fields in which people search most (RFC 9051 section 6.4.4): SUBJECT, FROM, TO, CC and BCC. */
import { decodeWords } from './decode-words.ts';
import { foldText } from './fold.ts';
import { readValuesOf } from './header-block.ts';

export const SEARCH_FIELDS = ['subject', 'from', 'to', 'cc', 'bcc'] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

const NAMES: ReadonlySet<string> = new Set(SEARCH_FIELDS);

/** Decoded and folded values of each field, in the order of the header. */
export type FieldTexts = Readonly<Record<SearchField, readonly string[]>>;

/** Returns true for the name, in lower case, of one of these fields. */
export function isSearchField(name: string): name is SearchField {
  return NAMES.has(name);
}

/** Returns the values that these fields have in a header. */
export function readFieldTexts(header: Uint8Array): FieldTexts {
  const octets = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  const values = readValuesOf(octets, { start: 0, end: octets.length }, NAMES);
  const textsOf = (field: SearchField) => (values.get(field) ?? []).map(foldValue);
  return {
    subject: textsOf('subject'),
    from: textsOf('from'),
    to: textsOf('to'),
    cc: textsOf('cc'),
    bcc: textsOf('bcc'),
  };
}

/** Returns the value of a header field as searches compare it. */
export function foldValue(value: string): string {
  return foldText(decodeWords(value));
}
