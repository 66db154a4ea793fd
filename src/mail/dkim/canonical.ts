/** The relaxed canonical form of header fields (RFC 6376 3.4.2). That of bodies is `body-hash.ts`. */

/** One field, given with or without its CRLF; the result has none. */
export function relaxedField(field: string): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon).trimEnd().toLowerCase();
  const value = field.slice(colon + 1).replaceAll('\r\n', '');
  return `${name}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`;
}
