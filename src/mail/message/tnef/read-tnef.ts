/**
 * Unpacks the files and the text of `winmail.dat`, in which Outlook sends them to readers that it takes for its own kind (TNEF, MS-OXTNEF).
 * All values share the memory of the octets, and nothing in TNEF is compressed except rich text, whose size is limited. Time and memory
 * are therefore linear in the octets.
 */
import { decodeCharset } from '../charset.ts';
import { decodeTextOctets } from '../part-text.ts';
import { type MapiProperties, type MapiValue, OctetReader, readMapiProperties } from './mapi-properties.ts';

type TnefFile = {
  /** Name that the sender gave it; an empty text when there is none. */
  name: string;
  contentType: string;
  contentId: string | null;
  disposition: 'attachment' | 'inline';
  bytes: Buffer;
};

type TnefContent = { text: string; html: string; files: TnefFile[] };

/** A message, or a message inside of it. */
type Level = {
  depth: number;
  /** Number of octets of rich text that may still be decompressed, of all messages together. */
  richText: { leftOctets: number };
};

const TYPES: ReadonlySet<string> = new Set(['application/ms-tnef', 'application/vnd.ms-tnef']);
const USUAL_NAME = 'winmail.dat';
const SIGNATURE = 0x223e9f78;
/** Maximum number of messages in messages. Forwarded mail has one or two. */
const MAX_DEPTH = 4;
/** Maximum number of files. A message has as many parts. */
const MAX_FILES = 1_000;

/** Maximum size of rich text. That of common mail has some kilobytes. */
const MAX_RICH_TEXT_OCTETS = 8 * 1024 * 1024;

/** Attributes (MS-OXTNEF section 2.1.3.2), each with its type in the upper half. */
const ATTACHMENT_BEGINS = 0x00069002;
const ATTACHMENT_NAME = 0x00018010;
const ATTACHMENT_DATA = 0x0006800f;
const ATTACHMENT_PROPERTIES = 0x00069005;
const MESSAGE_PROPERTIES = 0x00069003;
const MESSAGE_TEXT = 0x0002800c;
const CODE_PAGE = 0x00069007;
const CHECKSUM_OCTETS = 2;

/** Properties (MS-OXPROPS). */
const BODY = 0x1000;
const BODY_HTML = 0x1013;
const RICH_TEXT = 0x1009;
const DATA = 0x3701;
const SHORT_NAME = 0x3704;
const LONG_NAME = 0x3707;
const MIME_TYPE = 0x370e;
const CONTENT_ID = 0x3712;
const MESSAGE_IDS: ReadonlySet<number> = new Set([BODY, BODY_HTML, RICH_TEXT]);
const ATTACHMENT_IDS: ReadonlySet<number> = new Set([DATA, SHORT_NAME, LONG_NAME, MIME_TYPE, CONTENT_ID]);
/** Octets in front of the data of an object, which name its interface. */
const INTERFACE_OCTETS = 16;

/** Returns true for a file that says that it is TNEF. */
export function isTnef({ contentType, name }: Pick<TnefFile, 'contentType' | 'name'>): boolean {
  return TYPES.has(contentType) || name.toLowerCase() === USUAL_NAME;
}

/** Returns what a file contains; undefined when it is not TNEF. What is damaged is left out. */
export function readTnef(octets: Buffer): TnefContent | undefined {
  const content: TnefContent = { text: '', html: '', files: [] };
  return readStream(octets, content, { depth: 0, richText: { leftOctets: MAX_RICH_TEXT_OCTETS } })
    ? content
    : undefined;
}

/** An attachment whose attributes are being read. */
type OpenAttachment = { title: string; data: Buffer | undefined; properties: MapiProperties };

function readStream(octets: Buffer, content: TnefContent, level: Level): boolean {
  const reader = new OctetReader(octets);
  if (reader.left < 6 || reader.u32() !== SIGNATURE) return false;
  reader.skip(2);
  let charset = 'cp1252';
  let richText: Buffer | undefined;
  let attachment: OpenAttachment | undefined;
  for (const { id, value } of readAttributes(reader)) {
    if (id === CODE_PAGE && value.length >= 4) charset = `cp${value.readUInt32LE()}`;
    else if (id === MESSAGE_TEXT) content.text ||= textOf({ kind: 'ansi', octets: value }, charset);
    else if (id === MESSAGE_PROPERTIES) richText = readBodies(value, content, charset);
    else if (id === ATTACHMENT_BEGINS) {
      addAttachment(content, attachment, { ...level, charset });
      attachment = { title: '', data: undefined, properties: new Map() };
    } else if (!attachment) continue;
    else if (id === ATTACHMENT_NAME) attachment.title = textOf({ kind: 'ansi', octets: value }, charset);
    else if (id === ATTACHMENT_DATA) attachment.data = value;
    else if (id === ATTACHMENT_PROPERTIES) attachment.properties = readMapiProperties(value, ATTACHMENT_IDS);
  }
  addAttachment(content, attachment, { ...level, charset });
  if (content.text === '' && content.html === '') addRichText(content, richText, level);
  return true;
}

/** Yields the attributes. The last one may be cut, and is then left out. */
function* readAttributes(reader: OctetReader): Generator<{ id: number; value: Buffer }> {
  while (reader.left > 9) {
    reader.skip(1);
    const id = reader.u32();
    const length = reader.u32();
    if (length > reader.left) return;
    yield { id, value: reader.take(length) };
    reader.skip(CHECKSUM_OCTETS);
  }
}

const HTML = { type: 'text', subtype: 'html', parameters: [] };
/** Description of a file that says nothing about itself. */
const FILE = { contentId: null, disposition: 'attachment' } as const;

/** Reads the texts of a message, and returns its rich text. */
function readBodies(value: Buffer, content: TnefContent, charset: string): Buffer | undefined {
  const properties = readMapiProperties(value, MESSAGE_IDS);
  content.text ||= textOf(properties.get(BODY), charset);
  const html = properties.get(BODY_HTML);
  content.html ||= html?.kind === 'octets' ? decodeTextOctets(html.octets, HTML) : textOf(html, charset);
  return properties.get(RICH_TEXT)?.octets;
}

/** Adds the text of a message that has no other form as a file. */
function addRichText({ files }: TnefContent, compressed: Buffer | undefined, { richText }: Level): void {
  const bytes = compressed && decompressRichText(compressed, richText.leftOctets);
  if (!bytes) return;
  richText.leftOctets -= bytes.length;
  files.push({ ...FILE, name: 'message.rtf', contentType: 'application/rtf', bytes });
}

type Reading = Level & { charset: string };

function addAttachment(
  content: TnefContent,
  attachment: OpenAttachment | undefined,
  { charset, depth, richText }: Reading,
): void {
  if (!attachment || content.files.length >= MAX_FILES) return;
  const { title, data, properties } = attachment;
  const object = properties.get(DATA);
  if (object?.kind === 'object' && depth < MAX_DEPTH) {
    const inner: TnefContent = { text: '', html: '', files: [] };
    if (readStream(object.octets.subarray(INTERFACE_OCTETS), inner, { depth: depth + 1, richText })) {
      addInnerMessage(content, inner, textOf(properties.get(LONG_NAME), charset) || title);
      return;
    }
  }
  const bytes = data ?? object?.octets;
  if (!bytes) return;
  const contentId = textOf(properties.get(CONTENT_ID), charset).replace(/^<|>$/g, '');
  content.files.push({
    ...FILE,
    name: textOf(properties.get(LONG_NAME), charset) || title || textOf(properties.get(SHORT_NAME), charset),
    contentType: typeOf(textOf(properties.get(MIME_TYPE), charset)),
    contentId: contentId === '' ? null : contentId,
    bytes,
  });
}

/** Adds the texts of a message in the message as files, and its files behind them. */
function addInnerMessage(content: TnefContent, { text, html, files }: TnefContent, title: string): void {
  const name = title === '' ? 'message' : title;
  const add = (extension: string, contentType: string, shown: string) => {
    const bytes = Buffer.from(shown);
    if (shown !== '') content.files.push({ ...FILE, name: `${name}.${extension}`, contentType, bytes });
  };
  if (html === '') add('txt', 'text/plain', text);
  else add('html', 'text/html', html);
  content.files.push(...files.slice(0, MAX_FILES - content.files.length));
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/;

function typeOf(text: string): string {
  const type = text.trim().toLowerCase();
  return MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
}

/** Returns the text of a value without its end mark, with LF line ends. */
function textOf(value: MapiValue | undefined, charset: string): string {
  if (!value || value.kind === 'object') return '';
  const text = decodeCharset(value.octets, value.kind === 'unicode' ? 'utf-16le' : charset);
  return text.replace(/\0[\s\S]*$/, '').replaceAll('\r\n', '\n');
}

/** Decompresses the rich text of a message in TNEF (MS-OXRTFCP), which is the only form of the text that some programs send. */
const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;

const DICTIONARY_OCTETS = 4_096;
/** Text that every dictionary begins with (MS-OXRTFCP section 2.1.2.1). */
const FIRST_TEXT =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier' +
  '{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';
/** Shortest text that a reference to the dictionary stands for. */
const MIN_REFERENCE_OCTETS = 2;

/** Returns the rich text; undefined when it is damaged, or larger than `maxOctets`. */
export function decompressRichText(octets: Buffer, maxOctets: number): Buffer | undefined {
  try {
    const reader = new OctetReader(octets);
    reader.take(4);
    const size = reader.u32();
    const form = reader.u32();
    reader.take(4);
    if (size > maxOctets) return undefined;
    if (form === UNCOMPRESSED) return reader.take(Math.min(size, reader.left));
    return form === COMPRESSED ? decompress(reader, size) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads octets and references in groups of eight, in front of which an octet says which is which. */
function decompress(reader: OctetReader, size: number): Buffer {
  const text = Buffer.alloc(size);
  const dictionary = Buffer.alloc(DICTIONARY_OCTETS);
  let end = dictionary.write(FIRST_TEXT, 'latin1');
  let length = 0;
  const add = (octet: number) => {
    dictionary[end] = octet;
    end = (end + 1) % DICTIONARY_OCTETS;
    text[length++] = octet;
  };
  while (length < size && reader.left > 0) {
    const kinds = reader.u8();
    for (let bit = 0; bit < 8 && length < size && reader.left > 0; bit++) {
      if ((kinds & (1 << bit)) === 0) {
        add(reader.u8());
        continue;
      }
      const reference = (reader.u8() << 8) | reader.u8();
      const from = reference >> 4;
      // A reference to the end of the dictionary ends the text.
      if (from === end) return text.subarray(0, length);
      const count = (reference & 15) + MIN_REFERENCE_OCTETS;
      for (let index = 0; index < count && length < size; index++)
        add(dictionary[(from + index) % DICTIONARY_OCTETS] ?? 0);
    }
  }
  return text.subarray(0, length);
}
