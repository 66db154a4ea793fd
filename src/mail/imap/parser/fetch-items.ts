/** Reads the items of FETCH (RFC 9051 section 6.4.5, RFC 3501 section 6.4.5). */

import type { PartialRange, Section } from '../../message/section.ts';
import { bad } from '../command-error.ts';
import { writeAstring } from '../encode/strings.ts';
import type { BinaryItem, FetchItem, PartNumber } from '../fetch-item.ts';
import type { Cursor } from './cursor.ts';

/** Maximum number of different items in one FETCH. Clients ask for about ten. */
const MAX_ITEMS = 500;
/** Maximum number of items in one FETCH when those that stand there several times count as often. */
const MAX_NAMED_ITEMS = 2_000;

const MACROS = new Map<string, readonly FetchItem[]>(
  Object.entries({
    FAST: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
    ALL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE'],
    FULL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY'],
  } as const).map(([name, kinds]) => [name, kinds.map((kind) => ({ kind }))]),
);

const SIMPLE = new Set([
  'UID',
  'FLAGS',
  'INTERNALDATE',
  'RFC822.SIZE',
  'ENVELOPE',
  'BODYSTRUCTURE',
  'MODSEQ',
  'SAVEDATE',
  'EMAILID',
  'THREADID',
] as const);
type Simple = typeof SIMPLE extends Set<infer Name> ? Name : never;

const WHOLE: Section = { part: [], text: undefined, fields: [] };
/** Names of RFC 3501 for sections. */
const OLDER_NAMES = new Map<string, FetchItem>([
  ['RFC822', { kind: 'SECTION', label: 'RFC822', section: WHOLE, peek: false, partial: undefined }],
  ['RFC822.HEADER', olderSection('RFC822.HEADER', 'HEADER', true)],
  ['RFC822.TEXT', olderSection('RFC822.TEXT', 'TEXT', false)],
]);

function olderSection(label: string, text: 'HEADER' | 'TEXT', peek: boolean): FetchItem {
  return { kind: 'SECTION', label, section: { part: [], text, fields: [] }, peek, partial: undefined };
}

/**
 * Returns the items in the order in which they are answered: as they were asked for, but UID first. Some clients stop at
 * a literal before they know the UID.
 */
export function parseFetchItems(cursor: Cursor): FetchItem[] {
  return arrange(
    cursor.isAtList ? cursor.list(() => parseItem(cursor), MAX_NAMED_ITEMS).flat() : parseItem(cursor),
  );
}

/** Returns one item, or those of a macro, which the grammar has without parentheses only. */
function parseItem(cursor: Cursor): readonly FetchItem[] {
  const name = cursor.word();
  return MACROS.get(name) ?? [parseNamed(cursor, name)];
}

function parseNamed(cursor: Cursor, name: string): FetchItem {
  if (isSimple(name)) return { kind: name };
  const older = OLDER_NAMES.get(name);
  if (older) return older;
  const peek = name.endsWith('.PEEK');
  switch (name) {
    case 'PREVIEW':
      // Previews are stored, so there is nothing to be lazy about (RFC 8970 section 3.2).
      if (cursor.isBeforeList) parseLazy(cursor);
      return { kind: 'PREVIEW' };
    case 'BODY':
      if (!cursor.skip('[')) return { kind: 'BODY' };
      return parseBody(cursor, peek);
    case 'BODY.PEEK':
      cursor.expect('[');
      return parseBody(cursor, peek);
    case 'BINARY':
    case 'BINARY.PEEK':
      return parseBinary(cursor, peek);
    case 'BINARY.SIZE':
      return { kind: 'BINARY.SIZE', part: parseBinaryPart(cursor) };
    default:
      return bad('FETCH has an item that is unknown');
  }
}

function parseLazy(cursor: Cursor): void {
  cursor.space();
  cursor.list(() => cursor.expect('LAZY'));
}

function isSimple(name: string): name is Simple {
  return (SIMPLE as Set<string>).has(name);
}

function parseBody(cursor: Cursor, peek: boolean): FetchItem {
  const { section, label } = parseSection(cursor);
  return { kind: 'SECTION', label: `BODY[${label}]`, section, peek, partial: parsePartial(cursor) };
}

function parseBinary(cursor: Cursor, peek: boolean): BinaryItem {
  return { kind: 'BINARY', part: parseBinaryPart(cursor), peek, partial: parsePartial(cursor) };
}

function parseBinaryPart(cursor: Cursor): PartNumber {
  cursor.expect('[');
  const { section } = parseSection(cursor);
  return section.text === undefined ? section.part : bad('A BINARY section is a number of a part');
}

function parsePartial(cursor: Cursor): PartialRange | undefined {
  if (!cursor.skip('<')) return undefined;
  const offset = cursor.number();
  cursor.expect('.');
  const count = cursor.number();
  cursor.expect('>');
  return { offset, count };
}

/** Each item is answered once, since a command must not ask for the same message a thousand times. */
function arrange(items: readonly FetchItem[]): FetchItem[] {
  if (items.length === 0) bad('FETCH needs an item');
  const distinct = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
  if (distinct.length > MAX_ITEMS) bad(`FETCH has at most ${MAX_ITEMS} items`, 'LIMIT');
  const rank = (item: FetchItem): number => (item.kind === 'UID' ? 0 : 1);
  return distinct.sort((a, b) => rank(a) - rank(b));
}

/** Reads the section of a message that FETCH asks for (RFC 9051 section 6.4.5.1), up to its `]`. */

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

const TEXTS = ['HEADER', 'HEADER.FIELDS', 'HEADER.FIELDS.NOT', 'TEXT', 'MIME'] as const;

function textOf(name: string): NonNullable<Section['text']> {
  return TEXTS.find((known) => known === name) ?? bad('The section of a message is unknown');
}

function parseFieldNames(cursor: Cursor): string[] {
  if (!cursor.isAtList) cursor.space();
  const fields = cursor.list(() => cursor.astring());
  if (fields.length === 0) bad('HEADER.FIELDS needs the name of a field');
  if (fields.length > MAX_FIELDS) bad(`A section has at most ${MAX_FIELDS} header fields`, 'LIMIT');
  if (!fields.every((field) => FIELD_NAME.test(field))) bad('The name of a header field is malformed');
  return fields;
}
