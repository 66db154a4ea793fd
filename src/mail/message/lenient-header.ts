/**
 * Reads the header fields of a message that a stranger wrote. It never fails, in linear time: a line that is not a field is skipped, and
 * what exceeds a limit is left out. Unlike the readers of whole messages it needs no charsets, since it runs in threads of the database too.
 */

/** A field of a header. Its name is in lower case; its value is unfolded, decoded as UTF-8 (RFC 6532) and trimmed. */
export type HeaderField = { name: string; value: string };

/** Maximum number of fields that are read. Messages have fewer than 100. */
const MAX_FIELDS = 1_000;
/** Maximum length of a value in octets. Only lists of addresses are longer. */
const MAX_VALUE_OCTETS = 16_384;

/** A name has printable characters other than the colon (RFC 5322 section 2.2); white space before the colon is obsolete. */
const FIELD = /^([!-9;-~]{1,80})[ \t]*:/;

/** The header and the body of an entity, as text of one character for each octet with LF line ends. */
type Entity = { header: string; body: string };

/** Returns the octets as text in the form of `Entity`. */
export function toLines(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(/\r\n?/g, '\n');
}

/** Splits an entity at its first empty line. Without one, everything is header. */
export function splitEntity(text: string): Entity {
  if (text.startsWith('\n')) return { header: '', body: text.slice(1) };
  const end = text.indexOf('\n\n');
  return end < 0 ? { header: text, body: '' } : { header: text.slice(0, end), body: text.slice(end + 2) };
}

/** Returns the fields of a header, in order. */
export function readHeader(header: string): HeaderField[] {
  const fields: HeaderField[] = [];
  // Unfolding removes the line end alone (RFC 5322 section 2.2.3).
  for (const line of header.replace(/\n(?=[ \t])/g, '').split('\n')) {
    const match = FIELD.exec(line.slice(0, MAX_VALUE_OCTETS));
    if (!match) continue;
    const value = line.slice(match[0].length, match[0].length + MAX_VALUE_OCTETS);
    fields.push({ name: (match[1] ?? '').toLowerCase(), value: decodeUtf8(value).trim() });
    if (fields.length === MAX_FIELDS) break;
  }
  return fields;
}

/** Returns the value of the first field with this name, which is given in lower case. */
export function findValue(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value;
}

/** Returns text of one character for each octet as what it means in UTF-8. */
function decodeUtf8(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('utf8');
}
