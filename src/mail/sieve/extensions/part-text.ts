/** The text of parts: without transfer encoding, and in Unicode. */
import { decodeCharset, decodeKnownCharset } from '../../message/charset.ts';
import { stripHtmlAtOnce } from '../../message/html-text-strip.ts';
import type { MimeEntity } from '../../message/mime-tree.ts';
import { decodeTransfer } from '../../message/transfer-encoding.ts';

/** Maximum size of a body that tests read. Our own limit: the text of nearly all mail is shorter. */
const MAX_OCTETS = 1024 * 1024;

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
