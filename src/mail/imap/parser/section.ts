/** Reads the section of a message that FETCH asks for (RFC 9051 section 6.4.5.1), up to its `]`. */
import type { Section } from '../../message/section.ts';
import { bad } from '../command-error.ts';
import { writeAstring } from '../encode/astring.ts';
import type { Cursor } from './cursor.ts';

/** Maximum depth of a part number, which no stored message reaches. */
const MAX_PART_DEPTH = 100;
/** Maximum number of a part in its multipart: 32 bits (RFC 9051 section 9, `nz-number`). */
const MAX_PART = 2 ** 32 - 1;
/** Maximum number of header fields in a section. A client asks for about twenty. */
const MAX_FIELDS = 500;
const FIELD_NAME = /^[!-9;-~]+$/;

/** Returns the section, and its text between the brackets for the response. The cursor stands after the `[`. */
export function parseSection(cursor: Cursor): { section: Section; label: string } {
  if (cursor.skip(']')) return { section: { part: [], text: undefined, fields: [] }, label: '' };
  const words = cursor.word().split('.');
  const part = takePart(words);
  const text = words.length > 0 ? textOf(words.join('.')) : undefined;
  if (text === 'MIME' && part.length === 0) bad('MIME needs the number of a part');
  const fields = text?.startsWith('HEADER.FIELDS') ? parseFieldNames(cursor) : [];
  cursor.expect(']');
  const name = [...part, ...(text ? [text] : [])].join('.');
  const label =
    fields.length > 0 ? `${name} (${fields.map((field) => writeAstring(field, '7bit')).join(' ')})` : name;
  return { section: { part, text, fields }, label };
}

/** Takes the numbers in front of the words. */
function takePart(words: string[]): number[] {
  const part: number[] = [];
  while (/^[1-9]\d{0,9}$/.test(words[0] ?? '')) {
    const number = Number(words.shift());
    if (number > MAX_PART) bad('The number of a part has at most 32 bits');
    part.push(number);
  }
  if (part.length > MAX_PART_DEPTH) bad(`A part is at most ${MAX_PART_DEPTH} levels deep`, 'LIMIT');
  return part;
}

function textOf(name: string): NonNullable<Section['text']> {
  switch (name) {
    case 'HEADER':
    case 'HEADER.FIELDS':
    case 'HEADER.FIELDS.NOT':
    case 'TEXT':
    case 'MIME':
      return name;
    default:
      return bad('The section of a message is unknown');
  }
}

function parseFieldNames(cursor: Cursor): string[] {
  if (!cursor.isAtList) cursor.space();
  const fields = cursor.list(() => cursor.astring());
  if (fields.length === 0) bad('HEADER.FIELDS needs the name of a field');
  if (fields.length > MAX_FIELDS) bad(`A section has at most ${MAX_FIELDS} header fields`, 'LIMIT');
  if (!fields.every((field) => FIELD_NAME.test(field))) bad('The name of a header field is malformed');
  return fields;
}
