/**
 * Splits the header of a received message into its fields, and assembles the header that a signature covers (RFC 6376 sections 3.7 and
 * 5.4.2). The reading is the one that is the least useful to a forger: a line that other programs may take for a field is one.
 */
import { relaxedField } from '../canonical.ts';
import { trimWhiteSpace } from '../tag-list.ts';
import type { Canonicalization } from './signature.ts';

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

/** The fields of a header by name, each list from the bottom up. */
export type FieldsByName = ReadonlyMap<string, readonly HeaderField[]>;

/** Returns the fields by name. */
export function groupFields(fields: readonly HeaderField[]): FieldsByName {
  const byName = new Map<string, HeaderField[]>();
  for (const field of fields.toReversed()) {
    const present = byName.get(field.name);
    if (present) present.push(field);
    else byName.set(field.name, [field]);
  }
  return byName;
}

type Signed = {
  fieldNames: readonly string[];
  headerCanonicalization: Canonicalization;
};

/**
 * Returns the octets that were signed. Several fields of one name are taken from the bottom up, and a name for which no
 * field is left adds nothing (RFC 6376 section 5.4.2). The signature field itself comes last, without its signature.
 */
export function signedHeader(fields: FieldsByName, signed: Signed, signatureField: HeaderField): Buffer {
  const canonical = (text: string): string =>
    signed.headerCanonicalization === 'relaxed' ? relaxedField(text) : text;
  const taken = new Map<string, number>();
  let text = '';
  for (const name of signed.fieldNames) {
    const count = taken.get(name) ?? 0;
    const field = fields.get(name)?.[count];
    if (!field) continue;
    taken.set(name, count + 1);
    text += `${canonical(field.text)}\r\n`;
  }
  return Buffer.from(text + canonical(withoutSignature(signatureField.text)), 'latin1');
}

/** Empties the value of `b=` (RFC 6376 section 3.7). The name of the tag is case-sensitive. */
function withoutSignature(text: string): string {
  return text.replace(/(^[^:]*:|;)([ \t\r\n]*b[ \t\r\n]*=)[^;]*/, '$1$2');
}
