/** Assembles the header that a signature covers (RFC 6376 sections 3.7 and 5.4.2). */
import { relaxedField } from '../canonical.ts';
import type { HeaderField } from './header-fields.ts';
import type { Canonicalization } from './signature.ts';

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
