/** Decodes the text of a part: its transfer encoding, its charset, and the lines of format=flowed. */
import { decodeCharset } from './charset.ts';
import { unflow } from './flowed.ts';
import type { MimeEntity } from './mime-tree.ts';
import { decodeTransfer } from './transfer-encoding.ts';

type PartDescription = Pick<MimeEntity, 'type' | 'subtype' | 'parameters' | 'encoding'>;

/** Returns the value of a parameter of Content-Type; an empty text when there is none. The name is in lower case. */
export function parameterOf({ parameters }: Pick<MimeEntity, 'parameters'>, name: string): string {
  return parameters.find((parameter) => parameter.name === name)?.value ?? '';
}

/** Returns the text of an encoded body, with LF line ends; undefined when its transfer encoding is unknown (RFC 2045 section 6.4). */
export function decodePartText(body: Buffer, part: PartDescription): string | undefined {
  const encoded = part.encoding === 'base64' ? withoutClearText(body) : body;
  const octets = decodeTransfer(encoded, part.encoding);
  return octets && decodeTextOctets(octets, part);
}

/** Matches what no line of base64 has: a space between two words, or nothing but a rule. */
const CLEAR_TEXT = /\S[ \t]+\S|^[-_]{2,}[ \t]*\r?$/m;

/** Returns base64 without the lines that a mailing list has added behind it. A third of all bodies has no padding that ends them. */
function withoutClearText(body: Buffer): Buffer {
  const text = body.toString('latin1');
  const found = CLEAR_TEXT.exec(text)?.index;
  if (found === undefined) return body;
  const encoded = body.subarray(0, text.lastIndexOf('\n', found) + 1);
  // Nothing tells clear text in front of the body from the body itself.
  return text.slice(0, encoded.length).trim() === '' ? body : encoded;
}

/** Returns the text of the octets of a part, with LF line ends. */
export function decodeTextOctets(octets: Buffer, part: Omit<PartDescription, 'encoding'>): string {
  const named = part.subtype === 'html' ? charsetOfHtml(octets) : '';
  const text = decodeCharset(octets, parameterOf(part, 'charset'), named).replaceAll('\r\n', '\n');
  const isFlowed = part.subtype === 'plain' && parameterOf(part, 'format').toLowerCase() === 'flowed';
  return isFlowed ? unflow(text, parameterOf(part, 'delsp').toLowerCase() === 'yes') : text;
}

/** Number of octets of HTML in which its charset is looked for (HTML standard, section 4.2.5.4). */
const MAX_META_OCTETS = 1_024;
/** Matches the element in which HTML names its charset, in either form. */
const META = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,64})/i;

/** Returns the charset that HTML names; an empty text when it names none. */
function charsetOfHtml(octets: Buffer): string {
  const [, name = ''] = META.exec(octets.toString('latin1', 0, MAX_META_OCTETS)) ?? [];
  return name;
}
