/**
 * Finds the parts of a MIME message that a stranger wrote. It never fails: a structure that is deeper or has more parts than
 * the limits is cut off. Each level of nesting reads the text once, so that the time is linear in the length of the text.
 */
import { findValue, type HeaderField, readHeader, splitEntity } from './header.ts';

/** A part that is not a multipart. Messages in messages are not parsed. */
export type MimePart = {
  fields: readonly HeaderField[];
  /** Media type in lower case, such as `message/delivery-status`. */
  type: string;
  /** The body as it was transferred, as text of one character for each octet with LF line ends. */
  body: string;
};

export type MimeMessage = { fields: readonly HeaderField[]; parts: readonly MimePart[] };

/** Maximum depth of nested multiparts. Our own limit: reports have one or two levels. */
const MAX_DEPTH = 4;
/** Maximum number of parts. Our own limit: reports have three. */
const MAX_PARTS = 32;
/** Maximum length of a boundary (RFC 2046 section 5.1.1). */
const MAX_BOUNDARY_CHARACTERS = 70;
/** Maximum length of the part of `Content-Type` that is read. Our own limit. */
const MAX_CONTENT_TYPE_CHARACTERS = 2_048;

const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i;
/** Matches what may follow a boundary on its line: the mark of the last one, and transport padding. */
const AFTER_BOUNDARY = /^(--)?[ \t]*(?:\n|$)/;

/** Returns the header of a message and its parts, in order. */
export function readMessage(text: string): MimeMessage {
  const { header, body } = splitEntity(text);
  const fields = readHeader(header);
  const parts: MimePart[] = [];
  collect(parts, { fields, body, depth: 0 });
  return { fields, parts };
}

type Node = { fields: readonly HeaderField[]; body: string; depth: number };

function collect(parts: MimePart[], { fields, body, depth }: Node): void {
  if (parts.length >= MAX_PARTS) return;
  const value = (findValue(fields, 'content-type') ?? '').slice(0, MAX_CONTENT_TYPE_CHARACTERS);
  // The default is plain text (RFC 2045 section 5.2).
  const type = /^\s*([!-.0-~]+\/[!-.0-:<-~]+)/.exec(value)?.[1]?.toLowerCase() ?? 'text/plain';
  const [, quoted, plain] = BOUNDARY.exec(value) ?? [];
  const boundary = (quoted ?? plain ?? '').trimEnd();
  if (!type.startsWith('multipart/')) {
    parts.push({ fields, type, body });
    return;
  }
  if (depth === MAX_DEPTH) return;
  const isBoundary = boundary !== '' && boundary.length <= MAX_BOUNDARY_CHARACTERS;
  const entities = isBoundary ? splitAt(body, boundary) : [];
  // A multipart whose boundary is missing, or was changed on its way, is read as the text that it is.
  if (entities.length === 0) parts.push({ fields, type: 'text/plain', body });
  for (const inner of entities) {
    const entity = splitEntity(inner);
    collect(parts, { fields: readHeader(entity.header), body: entity.body, depth: depth + 1 });
  }
}

/** Returns the texts between the delimiter lines (RFC 2046 section 5.1.1). The last one may lack its end. */
function splitAt(body: string, boundary: string): string[] {
  const text = `\n${body}`;
  const delimiter = `\n--${boundary}`;
  const inner: string[] = [];
  let start: number | undefined;
  for (let at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, at + delimiter.length)) {
    const lineStart = at + delimiter.length;
    const line = AFTER_BOUNDARY.exec(text.slice(lineStart, lineStart + MAX_BOUNDARY_CHARACTERS));
    if (!line) continue;
    if (start !== undefined) inner.push(text.slice(start, at));
    if (line[1] !== undefined || inner.length === MAX_PARTS) return inner;
    start = lineStart + line[0].length;
  }
  if (start !== undefined) inner.push(text.slice(start));
  return inner;
}

/** Returns the octets of a part, with its transfer encoding undone (RFC 2045 section 6). Line ends in base64 stay as they are. */
export function partBytes({ fields, body }: Pick<MimePart, 'fields' | 'body'>): Buffer {
  const encoding = findValue(fields, 'content-transfer-encoding')?.toLowerCase();
  return encoding === 'base64'
    ? Buffer.from(body, 'base64')
    : Buffer.from(partOctets({ fields, body }), 'latin1');
}

/** Returns a part as text, with its transfer encoding undone and LF line ends: one character for each octet. */
export function partOctets({ fields, body }: Pick<MimePart, 'fields' | 'body'>): string {
  const encoding = findValue(fields, 'content-transfer-encoding')?.toLowerCase();
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1').replace(/\r\n?/g, '\n');
  if (encoding !== 'quoted-printable') return body;
  return body
    .replace(/=\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
