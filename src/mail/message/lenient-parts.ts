/**
 * Finds the parts of a MIME message that a stranger wrote, for readers of bounces, complaints and reports. It never fails: what exceeds the
 * limits is left out. The parts are those that mailboxes and routes have (mime-tree.ts).
 */
import type { HeaderField } from './lenient-header.ts';
import { type MimeEntity, readTreeOrOpaque } from './mime-tree.ts';
import { decodeTransfer } from './transfer-encoding.ts';

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

/** Maximum number of parts. Reports have three. */
const MAX_PARTS = 32;

/** Returns the header of a message and its parts, in order. The text has one character for each octet, and LF line ends. */
export function readMessage(text: string): MimeMessage {
  const root = readTreeOrOpaque(Buffer.from(text, 'latin1'));
  const parts: MimePart[] = [];
  for (const { fields, type, subtype, encoding, body, end } of enumerateLeaves(root)) {
    if (parts.length === MAX_PARTS) break;
    parts.push({ fields, type: `${type}/${subtype}`, encoding, body: text.slice(body, end) });
  }
  return { fields: root.fields, parts };
}

function* enumerateLeaves(entity: MimeEntity): Generator<MimeEntity> {
  if (entity.parts.length === 0) yield entity;
  else for (const part of entity.parts) yield* enumerateLeaves(part);
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
