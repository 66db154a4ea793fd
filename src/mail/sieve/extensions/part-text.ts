/** The text of parts: without transfer encoding, and in Unicode. */
import { decodeCharset, decodeKnownCharset } from '../../message/charset.ts';
import { stripHtmlAtOnce } from '../../message/html-text-strip.ts';
import type { MimeEntity } from '../../message/mime-tree.ts';
import { decodeTransfer } from '../../message/transfer-encoding.ts';
import { findOctet, LF } from '../../octets.ts';

/** Maximum size of a body that tests read. The text of nearly all mail is shorter. */
const MAX_OCTETS = 1024 * 1024;

/** The octet with which a delimiter begins. */
const HYPHEN = 0x2d;

/** Largest number of octets in a character of UTF-8 behind the first one. */
const MAX_CONTINUATIONS = 3;

function charsetOf({ parameters }: MimeEntity): string {
  return parameters.find(({ name }) => name === 'charset')?.value ?? '';
}

/** Returns the body, or its beginning. */
function bodyOf(octets: Buffer, { body, end }: MimeEntity): Buffer {
  return octets.subarray(body, Math.min(end, body + MAX_OCTETS));
}

/** Leaves out the beginning of a character at the end of a text that was cut, because no charset could read the text with it. */
function withoutCutCharacter(text: Buffer, { body, end }: MimeEntity): Buffer {
  let length = text.length;
  const isCut = end - body > MAX_OCTETS;
  while (isCut && length > 0 && text.length - length < MAX_CONTINUATIONS && (text[length - 1] ?? 0) >= 0x80)
    length--;
  return text.subarray(0, length);
}

function decodeBody(octets: Buffer, part: MimeEntity): Buffer | undefined {
  const decoded = decodeTransfer(bodyOf(octets, part), part.encoding);
  return decoded && withoutCutCharacter(decoded, part);
}

/** Returns the text of a body; undefined when its transfer encoding or its charset is unknown. */
export function readKnownText(octets: Buffer, part: MimeEntity): string | undefined {
  const decoded = decodeBody(octets, part);
  return decoded && decodeKnownCharset(decoded, charsetOf(part));
}

/** Returns the text of a body. What cannot be decoded stays as it is. */
export function readText(octets: Buffer, part: MimeEntity): string {
  const decoded = decodeBody(octets, part) ?? bodyOf(octets, part);
  return decodeCharset(decoded, part.type === 'text' ? charsetOf(part) : '');
}

/** Returns the text that a reader sees, which has no markup of HTML. */
export function readVisibleText(octets: Buffer, part: MimeEntity): string {
  const text = readText(octets, part);
  return part.subtype === 'html' ? stripHtmlAtOnce(text) : text;
}

/** Returns the body of the message as it was transferred. */
export function readRawText(octets: Buffer, part: MimeEntity): string {
  return decodeCharset(withoutCutCharacter(bodyOf(octets, part), part), '');
}

/** Returns false for a message that has a header alone, without the empty line that would end it. */
export function hasBody(octets: Buffer, { header, body, end }: MimeEntity): boolean {
  return body < end || EMPTY_LINE_AT_END.test(octets.toString('latin1', Math.max(header, body - 4), body));
}

/** Matches the end of a header that has its empty line, and a header that is nothing else. */
const EMPTY_LINE_AT_END = /(?:\n|^)\r?\n$/;

/** Returns the header of a message without its empty line. */
export function readHeaderText(octets: Buffer, { header, body }: MimeEntity): string {
  const end = Math.min(body, header + MAX_OCTETS);
  return decodeCharset(octets.subarray(header, end), '').replace(/(\r?\n)\r?\n$/, '$1');
}

/** Returns what stands before the first delimiter of a multipart, without the line end that belongs to it (RFC 2046 section 5.1.1). */
export function readPrologue(octets: Buffer, { body, parts: [first] }: MimeEntity): string {
  if (!first) return '';
  // The delimiter is the line before the first part.
  const lineEnd = octets.lastIndexOf(LF, first.header - 2);
  return decodeCharset(octets.subarray(body, Math.min(lineEnd + 1, body + MAX_OCTETS)), '').replace(
    /\r?\n$/,
    '',
  );
}

/** Returns what stands behind the last delimiter of a multipart. */
export function readEpilogue(octets: Buffer, { end, parts }: MimeEntity): string {
  const last = parts.at(-1);
  if (!last || last.end >= end) return '';
  // The line end before a delimiter belongs to it; an empty part has none.
  const isEmpty = last.end === last.body && octets[last.end] === HYPHEN;
  const delimiter = isEmpty ? last.end : findOctet(octets, LF, last.end) + 1;
  const lineEnd = findOctet(octets, LF, delimiter);
  const from = lineEnd < 0 ? end : lineEnd + 1;
  return decodeCharset(octets.subarray(Math.min(from, end), Math.min(end, from + MAX_OCTETS)), '');
}
