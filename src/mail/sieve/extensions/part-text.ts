/** The text of parts: without transfer encoding, and in Unicode. */
import { decodeCharset, decodeKnownCharset } from '../../message/charset.ts';
import { stripHtmlAtOnce } from '../../message/html-text-strip.ts';
import type { MimeEntity } from '../../message/mime-tree.ts';
import { decodeTransfer } from '../../message/transfer-encoding.ts';

/** Maximum size of a body that tests read. Our own limit: the text of nearly all mail is shorter. */
const MAX_OCTETS = 1024 * 1024;

function charsetOf({ parameters }: MimeEntity): string {
  return parameters.find(({ name }) => name === 'charset')?.value ?? '';
}

function decodeBody(octets: Buffer, { body, end, encoding }: MimeEntity): Buffer | undefined {
  return decodeTransfer(octets.subarray(body, Math.min(end, body + MAX_OCTETS)), encoding);
}

/** Returns the text of a body; undefined when its transfer encoding or its charset is unknown. */
export function readKnownText(octets: Buffer, part: MimeEntity): string | undefined {
  const decoded = decodeBody(octets, part);
  return decoded && decodeKnownCharset(decoded, charsetOf(part));
}

/** Returns the text of a body. What cannot be decoded stays as it is. */
export function readText(octets: Buffer, part: MimeEntity): string {
  const decoded =
    decodeBody(octets, part) ?? octets.subarray(part.body, Math.min(part.end, part.body + MAX_OCTETS));
  return decodeCharset(decoded, part.type === 'text' ? charsetOf(part) : '');
}

/** Returns the text that a reader sees, which has no markup of HTML. */
export function readVisibleText(octets: Buffer, part: MimeEntity): string {
  const text = readText(octets, part);
  return part.subtype === 'html' ? stripHtmlAtOnce(text) : text;
}

/** Returns the body of the message as it was transferred. */
export function readRawText(octets: Buffer, { body, end }: MimeEntity): string {
  return decodeCharset(octets.subarray(body, Math.min(end, body + MAX_OCTETS)), '');
}
