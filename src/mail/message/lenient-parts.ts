/**
 * Reads the header and the parts of a message that a stranger wrote, for readers of bounces, complaints and reports. It never fails, in
 * linear time: a line that is not a field is skipped, and what exceeds a limit is left out. The parts are those that mailboxes and routes
 * have (mime-tree.ts).
 */
import { type MimeEntity, readTreeOrOpaque } from './mime-tree.ts';
import { decodeTransfer } from './transfer-encoding.ts';

/** A field of a header. Its name is in lower case; its value is unfolded, decoded as UTF-8 (RFC 6532) and trimmed. */
export type HeaderField = { name: string; value: string };

/** Maximum number of fields that are read. Our own limit: messages have fewer than 100. */
const MAX_FIELDS = 1_000;
/** Maximum length of a value in octets. Our own limit: only lists of addresses are longer. */
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

/** A part that is not a multipart. Messages in messages are not parsed. */
export type MimePart = {
  fields: readonly HeaderField[];
  /** Media type in lower case, such as `message/delivery-status`. */
  type: string;
  /** Transfer encoding in lower case. */
  encoding: string;
  /** The body as it was transferred, as text of one character for each octet with LF line ends. */
  body: string;
};

export type MimeMessage = { fields: readonly HeaderField[]; parts: readonly MimePart[] };

/** Maximum number of parts. Our own limit: reports have three. */
const MAX_PARTS = 32;

/** Returns the header of a message and its parts, in order. The text has one character for each octet, and LF line ends. */
export function readMessage(text: string): MimeMessage {
  const root = readTreeOrOpaque(Buffer.from(text, 'latin1'));
  const parts: MimePart[] = [];
  for (const { fields, type, subtype, encoding, body, end } of walkLeaves(root)) {
    if (parts.length === MAX_PARTS) break;
    parts.push({ fields, type: `${type}/${subtype}`, encoding, body: text.slice(body, end) });
  }
  return { fields: root.fields, parts };
}

function* walkLeaves(entity: MimeEntity): Generator<MimeEntity> {
  if (entity.parts.length === 0) yield entity;
  else for (const part of entity.parts) yield* walkLeaves(part);
}

/** Returns the octets of a part, with its transfer encoding undone (RFC 2045 section 6). Line ends in base64 stay as they are. */
export function partBytes({ encoding, body }: Pick<MimePart, 'encoding' | 'body'>): Buffer {
  const octets = Buffer.from(body, 'latin1');
  return decodeTransfer(octets, encoding) ?? octets;
}

/** Returns a part as text, with its transfer encoding undone and LF line ends: one character for each octet. */
export function partOctets(part: Pick<MimePart, 'encoding' | 'body'>): string {
  return partBytes(part).toString('latin1').replace(/\r\n?/g, '\n');
}
