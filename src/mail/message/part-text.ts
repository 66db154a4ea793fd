/** Decodes the text of a part: its transfer encoding, its charset, and the lines of format=flowed (RFC 3676 section 4). */
import { decodeCharset } from './charset.ts';
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

/** The line in front of a signature, which is never joined (RFC 3676 section 4.3). */
const SIGNATURE_MARK = '-- ';

type Line = {
  /** Number of quote marks in front of the line. */
  depth: number;
  /** The line without its quote marks, and without the space that protects its beginning (RFC 3676 section 4.4). */
  content: string;
};

/**
 * Returns the text with its paragraphs in one line each. Line ends are LF.
 * @param deletesSpace true when the space at the end of a line is not a part of the text (DelSp)
 */
export function unflow(text: string, deletesSpace: boolean): string {
  const lines: string[] = [];
  let paragraph: Line | undefined;
  for (const line of text.split('\n')) {
    const { depth, content } = readLine(line);
    const isSignatureMark = content === SIGNATURE_MARK;
    const isFlowed = content.endsWith(' ') && !isSignatureMark;
    const shown = isFlowed && deletesSpace ? content.slice(0, -1) : content;
    // A line of another depth begins a paragraph, although the line in front of it is flowed (RFC 3676 section 4.5).
    if (paragraph && (paragraph.depth !== depth || isSignatureMark)) {
      lines.push(showLine(paragraph));
      paragraph = undefined;
    }
    const joined: Line = { depth, content: (paragraph?.content ?? '') + shown };
    paragraph = isFlowed ? joined : undefined;
    if (!isFlowed) lines.push(showLine(joined));
  }
  if (paragraph) lines.push(showLine(paragraph));
  return lines.join('\n');
}

function readLine(line: string): Line {
  let depth = 0;
  while (line[depth] === '>') depth++;
  const start = line[depth] === ' ' ? depth + 1 : depth;
  return { depth, content: line.slice(start) };
}

function showLine({ depth, content }: Line): string {
  // The space that protects a mark stays: without it, the words of the author would look quoted.
  if (depth === 0) return content.startsWith('>') ? ` ${content}` : content;
  const marks = '>'.repeat(depth);
  return content === '' ? marks : `${marks} ${content}`;
}
