/**
 * Finds the fields of a header in the octets of a message. Nothing is refused: a line that is neither a field nor a continuation is
 * skipped. The time is linear in the length of the header.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { findOctet, LF, SPACE, TAB } from '../octets.ts';
import { decodeCharset } from './charset.ts';

/** A field. Its value is unfolded (RFC 5322 section 2.2.3) and trimmed; encoded-words stay as they are. */
export type HeaderField = {
  /** Name in lower case. */
  name: string;
  value: string;
};

/** Offsets of octets in a message: from `start` up to, but not including, `end`. */
export type OctetRange = { start: number; end: number };

/** A field with its continuation lines, or a line that is not a field and has no name. */
type FieldLines = OctetRange & {
  /** Name in lower case; empty when the line is not a field. */
  name: string;
  /** Offset of the value. */
  value: number;
};

/** Maximum number of fields that are read. Messages have fewer than 200. */
const MAX_FIELDS = 10_000;
/** Maximum length of a value that is read, in octets. Only lists of thousands of addresses are longer. */
const MAX_VALUE_OCTETS = 256 * 1024;

const COLON = 0x3a;

/** Yields the lines of a header one field at a time. The empty line at its end has no name. */
export function* readFieldLines(octets: Buffer, { start, end }: OctetRange): Generator<FieldLines> {
  for (let at = start; at < end; ) {
    const fieldStart = at;
    const { name, value } = readName(octets, { start, end: Math.min(end, octets.length) }, at);
    do {
      const lineEnd = findOctet(octets, LF, at);
      at = lineEnd < 0 || lineEnd >= end ? end : lineEnd + 1;
    } while (at < end && isSpace(octets[at]));
    yield { start: fieldStart, end: at, name, value };
  }
}

function readName(octets: Buffer, line: OctetRange, start: number): { name: string; value: number } {
  const found = findName(octets, { start, end: line.end });
  return found
    ? { name: octets.toString('latin1', start, found.end).toLowerCase(), value: found.value }
    : { name: '', value: start };
}

/**
 * Returns the offsets of the end of a name and of the value behind its colon; undefined when a line has none. A name has printable
 * characters other than the colon (RFC 5322 section 2.2). White space before the colon is obsolete.
 */
function findName(octets: Buffer, { start, end }: OctetRange): { end: number; value: number } | undefined {
  let at = start;
  while (at < end && isNameOctet(octets[at] as number)) at++;
  const nameEnd = at;
  while (at < end && isSpace(octets[at])) at++;
  return nameEnd > start && at < end && octets[at] === COLON ? { end: nameEnd, value: at + 1 } : undefined;
}

/** Returns true for a line that begins a field. */
export function startsField(octets: Buffer, line: OctetRange): boolean {
  return findName(octets, line) !== undefined;
}

function isNameOctet(octet: number): boolean {
  return octet > SPACE && octet < 0x7f && octet !== COLON;
}

function isSpace(octet: number | undefined): boolean {
  return octet === SPACE || octet === TAB;
}

/** Returns the fields of a header, in order. */
export function readFields(octets: Buffer, header: OctetRange): HeaderField[] {
  const fields: HeaderField[] = [];
  for (const { name, value, end } of readFieldLines(octets, header)) {
    if (name === '') continue;
    fields.push({
      name,
      value: unfoldValue(octets.subarray(value, Math.min(end, value + MAX_VALUE_OCTETS))),
    });
    if (fields.length === MAX_FIELDS) break;
  }
  return fields;
}

/** Returns the values of the fields with this name, which is in lower case. The other fields are not decoded. */
export function readValues(octets: Buffer, header: OctetRange, name: string): readonly string[] {
  return readValuesOf(octets, header, new Set([name])).get(name) ?? [];
}

/** Returns the values of the fields with these names, which are in lower case. The other fields are not decoded. */
export function readValuesOf(
  octets: Buffer,
  header: OctetRange,
  names: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const { name, value, end } of readFieldLines(octets, header)) {
    if (name === '' || !names.has(name)) continue;
    const own = values.get(name) ?? [];
    own.push(unfoldValue(octets.subarray(value, Math.min(end, value + MAX_VALUE_OCTETS))));
    values.set(name, own);
  }
  return values;
}

/**
 * Returns the value of a field on one line, trimmed. Text of a header is ASCII or UTF-8 (RFC 6532 section 3.2); what is neither is read as
 * bodies are (charset.ts).
 */
export function unfoldValue(octets: Buffer): string {
  // Nearly all values are plain text on one line.
  const line = octets.toString('latin1');
  if (PLAIN_LINE.test(line)) return line.trim();
  return decodeCharset(withEncodedOctets(octets), '')
    .replace(/\r?\n/g, '')
    .replace(/[\0\r]/g, ' ')
    .trim();
}

const PLAIN_LINE = /^[\t -~]*\r?\n?$/;

/** Matches an encoded-word of quoted characters (RFC 2047 section 4.2), of which each character is an octet. */
const Q_WORD = /=\?[^?\s]{1,128}\?[Qq]\?[^?\r\n]*\?=/g;
const EIGHT_BIT = /[\x80-\xff]/g;
const QUOTED_EIGHT_BIT = /=[89A-Fa-f][0-9A-Fa-f]/;
const LATIN_LABEL = /^=\?(?:iso-?8859-1|latin-?1|windows-1252)(?=[?*])/i;
const UTF_8_LABEL = /^=\?utf-?8(?=[?*])/i;

/**
 * Quotes octets of 8 bits inside of encoded-words, as their writer should have done. They are in the charset of the word, whatever the rest
 * of the value is in, unless they show that its label is wrong.
 */
function withEncodedOctets(octets: Buffer): Buffer {
  if (isAscii(octets) || !octets.includes('=?')) return octets;
  const quote = (octet: string) => `=${octet.charCodeAt(0).toString(16).toUpperCase()}`;
  const text = octets
    .toString('latin1')
    .replace(Q_WORD, (word) => withRightLabel(word).replace(EIGHT_BIT, quote));
  return Buffer.from(text, 'latin1');
}

/** Returns a word with octets of 8 bits under another label where they are UTF-8 under the label of Latin, or Latin under that of UTF-8. */
function withRightLabel(word: string): string {
  if (QUOTED_EIGHT_BIT.test(word)) return word;
  return isUtf8(Buffer.from(word, 'latin1'))
    ? word.replace(LATIN_LABEL, '=?utf-8')
    : word.replace(UTF_8_LABEL, '=?windows-1252');
}

/** Returns the value of the first field with this name, which is in lower case; undefined when there is none. */
export function findValue(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value;
}
