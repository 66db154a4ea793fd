/**
 * Reads once what mailboxes need to know of a message, so that it need not be read again for each client: where its parts are, what FETCH
 * answers, by what it is sorted and found, and its preview (RFC 8970 section 3.3).
 */
import { writeBodyStructure, writeEnvelope } from '../imap/encode/envelope.ts';
import type { TextForm } from '../imap/encode/strings.ts';
import { type MimeEntity, readMimeTree, readOpaque, TooComplexError } from '../message/mime-tree.ts';
import { readFieldTexts } from '../message/search-fields.ts';
import { readText, type SearchText } from '../message/search-text.ts';
import type { StoredPart } from '../message/section.ts';
import { readSortKeys, readThreadKeys, type SortKeys, type ThreadKeys } from '../message/sort-keys.ts';

/** Version of what is read. It rises when results change, so that stored messages can be read again. */
export const PARSER_VERSION = 1;

/**
 * Maximum length of the structure of a message that is taken apart. That of 1,000 files has 200,000 characters. Each FETCH holds those of
 * many messages in memory, and a message of 40 MB could be all structure.
 */
const MAX_STRUCTURE_CHARACTERS = 512 * 1024;

/** Maximum size of a header whose fields are stored for searches. Searches read the fields of a larger one in the message. */
const MAX_FIELDS_OCTETS = 64 * 1024;

/** Wire text for clients that read 7 bits, and for those that read UTF-8; null when it is the same. */
type WireText = { ascii: string; utf8: string | null };

export type MailboxMessage = {
  parserVersion: number;
  /** True for a message that is not taken apart: its structure is one part of unknown content. */
  isOpaque: boolean;
  root: StoredPart;
  envelope: WireText;
  body: WireText;
  bodyStructure: WireText;
  sort: SortKeys;
  thread: ThreadKeys;
  /** First words of the visible text (RFC 8970); empty when there are none. */
  preview: string;
  search: SearchText;
};

export type ReadingOptions = {
  /** Returns all of the text for searches, however long it is. */
  isTextWhole?: boolean;
};

/** Returns what mailboxes store of a message. A message with too many parts is opaque. */
export async function readMailboxMessage(
  octets: Uint8Array,
  { isTextWhole = false }: ReadingOptions = {},
): Promise<MailboxMessage> {
  const buffer = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  const root = tryReadTree(buffer);
  const description = root && describe(root);
  if (!description || isTooLong(description.bodyStructure)) return readOpaqueMessage(octets);
  const maxCharacters = isTextWhole ? Number.POSITIVE_INFINITY : undefined;
  const { search, visible } = await readText(buffer, root, maxCharacters);
  const fields = root.body <= MAX_FIELDS_OCTETS ? readFieldTexts(buffer.subarray(0, root.body)) : undefined;
  return { isOpaque: false, ...description, preview: makePreview(visible), search: { ...search, fields } };
}

/** Returns what can be known of a message that cannot be taken apart: the fields of its header. */
export async function readOpaqueMessage(octets: Uint8Array): Promise<MailboxMessage> {
  const buffer = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  const root = readOpaque(buffer);
  const { search } = await readText(buffer, root);
  return { isOpaque: true, ...describe(root), preview: '', search: { ...search, isComplete: false } };
}

function tryReadTree(octets: Buffer): MimeEntity | undefined {
  try {
    return readMimeTree(octets);
  } catch (error) {
    if (error instanceof TooComplexError) return undefined;
    throw error;
  }
}

type Description = Omit<MailboxMessage, 'isOpaque' | 'preview' | 'search'>;

function describe(root: MimeEntity): Description {
  const write = hasOneForm(root) ? inOneForm : inBothForms;
  return {
    parserVersion: PARSER_VERSION,
    root: storedPart(root),
    envelope: write((text) => writeEnvelope(root.fields, text)),
    body: write((text) => writeBodyStructure(root, { item: 'BODY', text })),
    bodyStructure: write((text) => writeBodyStructure(root, { item: 'BODYSTRUCTURE', text })),
    sort: readSortKeys(root.fields),
    thread: readThreadKeys(root.fields),
  };
}

function isTooLong({ ascii, utf8 }: WireText): boolean {
  return Math.max(ascii.length, utf8?.length ?? 0) > MAX_STRUCTURE_CHARACTERS;
}

function storedPart({ header, body, end, encoding, parts, message }: MimeEntity): StoredPart {
  const offsets = { header, body, end, encoding, parts: parts.map(storedPart) };
  return message ? { ...offsets, message: storedPart(message) } : offsets;
}

const ASCII_ONLY = /^[\0-\x7f]*$/;

/** Returns true when both forms are the same: they differ in text beyond ASCII, and in parameters that had a charset. */
function hasOneForm({ fields, parameters, disposition, parts, message }: MimeEntity): boolean {
  return (
    fields.every(({ value }) => ASCII_ONLY.test(value)) &&
    !parameters.some(({ isExtended }) => isExtended) &&
    !disposition?.parameters.some(({ isExtended }) => isExtended) &&
    parts.every(hasOneForm) &&
    (!message || hasOneForm(message))
  );
}

function inOneForm(write: (text: TextForm) => string): WireText {
  return { ascii: write('7bit'), utf8: null };
}

function inBothForms(write: (text: TextForm) => string): WireText {
  const [ascii, utf8] = [write('7bit'), write('utf8')];
  return { ascii, utf8: utf8 === ascii ? null : utf8 };
}

/** Length of a preview in characters (RFC 8970 section 3.3). */
const MAX_PREVIEW_CHARACTERS = 200;
/** Maximum length of text that is read for a preview. Some texts begin with much empty space. */
const MAX_READ_CHARACTERS = 16_384;
/** Length of text that is read first. It is enough for the preview of nearly all messages. */
const FIRST_READ_CHARACTERS = 512;
/** Number of UTF-16 units in which the characters of a preview begin: two for each at most. */
const MAX_UNITS = 2 * MAX_PREVIEW_CHARACTERS;

/** Returns the preview: the first characters, in one line and without control characters. It is empty when nothing is visible. */
export function makePreview(text: string): string {
  const beginning = inOneLine(text.slice(0, FIRST_READ_CHARACTERS));
  const line =
    beginning.length > MAX_UNITS || text.length <= FIRST_READ_CHARACTERS
      ? beginning
      : inOneLine(text.slice(0, MAX_READ_CHARACTERS));
  return firstCharacters(line.slice(0, MAX_UNITS)).trimEnd();
}

/** A text without surrogates has one unit for each character, and need not be taken apart. */
function firstCharacters(text: string): string {
  if (!SURROGATE.test(text)) return text.slice(0, MAX_PREVIEW_CHARACTERS);
  return [...text].slice(0, MAX_PREVIEW_CHARACTERS).join('');
}

const SURROGATE = /[\ud800-\udfff]/;

function inOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
