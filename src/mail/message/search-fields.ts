/** Reads the header fields in which people search most (RFC 9051 section 6.4.4): SUBJECT, FROM, TO, CC and BCC. */
import { domainToASCII } from 'node:url';
import { type EnvelopeAddress, MISSING_HOST, MISSING_MAILBOX, readAddressList } from './address-list.ts';
import { decodeWords } from './decode-words.ts';
import { foldText } from './fold.ts';
import { readValuesOf } from './header-block.ts';

const ADDRESS_FIELDS = ['from', 'to', 'cc', 'bcc'] as const;
export const SEARCH_FIELDS = ['subject', ...ADDRESS_FIELDS] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

const NAMES: ReadonlySet<string> = new Set(SEARCH_FIELDS);
const ASCII_ONLY = /^[\0-\x7f]*$/;
const NAMES_OF_ADDRESSES: ReadonlySet<string> = new Set(ADDRESS_FIELDS);

/** Maximum number of addresses of one field that are compared as ENVELOPE shows them: as many as it shows (imap/encode/envelope.ts). */
const MAX_ADDRESSES = 10_000;
/**
 * Maximum length of a field of which each address is compared with the whole, so that nothing stands twice. Longer fields are not stored
 * for searches (accounts/field-page.ts).
 */
const MAX_COMPARED_CHARACTERS = 4_096;

/** Stands between addresses of a long field. No text that is sought has it (imap/parser/cursor.ts). */
const SEPARATOR = '\0';

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
  const textsOf = (field: SearchField) => foldValues(field, values.get(field) ?? []);
  return {
    subject: textsOf('subject'),
    from: textsOf('from'),
    to: textsOf('to'),
    cc: textsOf('cc'),
    bcc: textsOf('bcc'),
  };
}

/**
 * Returns the texts in which searches look, of the values of all fields with one name, which is in lower case. Addresses are found as they
 * stand, and as ENVELOPE shows them: without comments, quotes and spaces that are not part of them (RFC 9051 section 6.4.4).
 */
export function foldValues(field: string, values: readonly string[]): string[] {
  const texts = values.map(foldValue);
  if (!NAMES_OF_ADDRESSES.has(field)) return texts;
  return texts.flatMap((text, index) => [text, ...foldAddresses(values[index] ?? '', text)]);
}

function foldValue(value: string): string {
  return foldText(decodeWords(value));
}

/** Returns the parts of addresses that the text of their field does not have in this form. */
function foldAddresses(value: string, text: string): string[] {
  const parts = readAddressList(value, MAX_ADDRESSES).flatMap(partsOf).map(decodeWords);
  if (text.length > MAX_COMPARED_CHARACTERS) return [foldText(parts.join(SEPARATOR))];
  return [...new Set(parts.map(foldText))].filter((part) => !text.includes(part));
}

/** Returns the name, and the address. The mark of a group has a name in the place of the mailbox, and no host. */
function partsOf({ name, mailbox, host }: EnvelopeAddress): string[] {
  const isWhole = mailbox !== MISSING_MAILBOX && host !== null && host !== MISSING_HOST;
  // A client that reads 7 bits is shown a domain in ASCII.
  const asciiHost = isWhole && !ASCII_ONLY.test(host) ? domainToASCII(host) : '';
  const parts = [
    name,
    isWhole ? `${mailbox}@${host}` : mailbox,
    asciiHost === '' ? null : `${mailbox}@${asciiHost}`,
  ];
  return parts.filter((part): part is string => part !== null && part !== MISSING_MAILBOX);
}
