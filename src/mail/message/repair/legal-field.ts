/** Writes a header field in lines that are not too long, with encoded text where its grammar allows it. */
import { type FieldKind, fieldKind } from './field-kind.ts';
import { foldField } from './fold-value.ts';
import { hasLongLine } from './long-line.ts';

/**
 * Returns a field in lines of at most 998 octets where its grammar allows it, without its last CRLF. `value` is unfolded. Text that is not ASCII
 * stays where `encode` leaves it, and everywhere without `needsEncoding`.
 */
export function legalField(
  name: string,
  value: string,
  { encode, needsEncoding }: { encode: (kind: FieldKind, value: string) => string; needsEncoding: boolean },
): string {
  const kind = fieldKind(name);
  const folded = foldField(kind, name, needsEncoding ? encode(kind, value) : value);
  // Encoded-words can be folded where a long word of free text cannot, and the name of a file can be cut.
  const isRest = !needsEncoding && kind !== 'addresses' && hasLongLine(Buffer.from(folded));
  return isRest ? foldField(kind, name, encode(kind, value)) : folded;
}
