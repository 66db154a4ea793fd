/** The relaxed canonical form of header fields (RFC 6376 section 3.4.2). Bodies are in `body-hash.ts`. */

/** Returns one field in canonical form without CRLF. The argument may end with a CRLF. */
export function relaxedField(field: string): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon).trimEnd().toLowerCase();
  const value = field.slice(colon + 1).replaceAll('\r\n', '');
  return `${name}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`;
}
