/**
 * Reads a message into its texts and files, with mailparser. Hostile messages can make it slow or large, so it runs in
 * threads that are terminated (parser.ts).
 */

import {
  type AddressObject,
  type AttachmentStream,
  type Headers,
  MailParser,
  type MessageText,
} from 'mailparser';
import { MAX_HEADER_BYTES } from '../../header-limits.ts';
import { cleanFilename } from '../filename.ts';
import { parseMediaType } from '../media-type.ts';
import { findField, type HeaderField, readDate, readHeaderFields, readMessageIds } from './header-fields.ts';
import { listMailboxes } from './mailboxes.ts';
import { joinTexts, type MessageTexts, type PartNode } from './texts.ts';

/** The files whose bytes are wanted: one of them by its number, or the first ones up to a number of bytes. */
export type WantedContent = { file: number } | { upToBytes: number };

export type ReadJob = {
  message: Uint8Array;
  content: WantedContent;
};

type ParsedFile = {
  /** Last part of the name that the sender gave it, without deceptive characters; at most 255 bytes. */
  filename: string;
  contentType: string;
  sizeBytes: number;
  /** Content-ID without angle brackets, by which the HTML names it (RFC 2392); null when it has none. */
  contentId: string | null;
  disposition: 'attachment' | 'inline';
  /** The decoded bytes, when they are wanted. */
  content: Uint8Array | null;
};

export type ParsedMessage = MessageTexts & {
  /** Mailboxes as `Name <address>` or `address`. */
  from: string[];
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  /** Unix milliseconds; null when there is no valid date. */
  date: number | null;
  /** Message ids with their angle brackets. */
  messageId: string | null;
  inReplyTo: string | null;
  references: string[];
  /** True when a text is longer than what is kept of it. */
  isCut: boolean;
  fields: HeaderField[];
  files: ParsedFile[];
};

/** Maximum number of parts of a message. Our own limit; with more, the message is not parsed. */
const MAX_PARTS = 1_000;
/** Maximum length of the text, and of the HTML. The rest is cut. Our own limit, twice that of emails that are sent. */
export const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024;
/**
 * Size of the pieces that the parser is given. It passes over the whole of a piece again for each part in it, and each
 * piece costs it several turns of the event loop.
 */
const PIECE_BYTES = 64 * 1024;

const OPTIONS = {
  // HTML is laid out as text by threads of its own, and only when the message has no text.
  skipHtmlToText: true,
  // The texts are joined by texts.ts.
  skipTextToHtml: true,
  // References such as cid: stay as they are, since files have a contentId.
  skipImageLinks: true,
  // A message within the message is a file, and so is the report of a delivery status.
  ignoreEmbedded: true,
  keepDeliveryStatus: true,
  maxHeadSize: MAX_HEADER_BYTES,
  maxChildNodes: MAX_PARTS,
};

/**
 * Reads a message.
 * @throws HeaderTooLargeError, or the error of mailparser when the message has too many parts
 */
export async function readMessage({ message, content }: ReadJob): Promise<ParsedMessage> {
  const fields = readHeaderFields(message);
  const parser = new MailParser(OPTIONS);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  parser.once('end', resolve);
  parser.once('error', reject);
  const files: ParsedFile[] = [];
  const wants = contentFilter(content);
  let headers: Headers = new Map();
  parser.once('headers', (read: Headers) => {
    headers = read;
  });
  parser.on('data', (data: AttachmentStream | MessageText) => {
    if (data.type === 'attachment') readFile(data, { files, wants });
  });
  await Promise.race([write(parser, message), ended]);
  await ended;
  const idsOf = (name: string) => readMessageIds(findField(fields, name));
  return {
    ...mailboxesOf(headers),
    subject: findField(fields, 'subject')?.text ?? '',
    date: readDate(findField(fields, 'date')),
    messageId: idsOf('message-id')[0] ?? null,
    inReplyTo: idsOf('in-reply-to')[0] ?? null,
    references: idsOf('references'),
    ...textsOf(parser),
    fields,
    files,
  };
}

async function write(parser: MailParser, message: Uint8Array): Promise<void> {
  for (let start = 0; start < message.length; start += PIECE_BYTES) {
    const piece = message.subarray(start, start + PIECE_BYTES);
    if (!parser.write(piece)) await new Promise((drained) => parser.once('drain', drained));
  }
  parser.end();
}

type Files = { files: ParsedFile[]; wants: (file: number, sizeBytes: number) => boolean };

function readFile({ content, ...data }: AttachmentStream, { files, wants }: Files): void {
  const number = files.length + 1;
  const type = parseMediaType(data.contentType);
  const file: ParsedFile = {
    filename: data.filename ? cleanFilename(data.filename) : `attachment-${number}`,
    contentType: type ? `${type.type}/${type.subtype}` : 'application/octet-stream',
    sizeBytes: 0,
    contentId: data.cid ? data.cid : null,
    disposition: data.contentDisposition === 'inline' ? 'inline' : 'attachment',
    content: null,
  };
  files.push(file);
  let parts: Buffer[] = [];
  let isWanted = true;
  content.on('data', (part: Buffer) => {
    file.sizeBytes += part.length;
    isWanted &&= wants(number, file.sizeBytes);
    if (isWanted) parts.push(part);
    else parts = [];
  });
  content.once('end', () => {
    if (isWanted) {
      // The memory of parts may be shared, and all of it would be copied with the result.
      file.content = new Uint8Array(Buffer.concat(parts));
      wants(number, file.sizeBytes);
    }
    data.release();
  });
}

/** Returns a function that says whether the bytes of a file are wanted. Wanted files count towards the limit. */
function contentFilter(content: WantedContent): Files['wants'] {
  if ('file' in content) return (number) => number === content.file;
  let before = 0;
  let current = { number: 0, sizeBytes: 0 };
  return (number, sizeBytes) => {
    if (number !== current.number) {
      before += current.sizeBytes;
      current = { number, sizeBytes: 0 };
    }
    const fits = before + sizeBytes <= content.upToBytes;
    current.sizeBytes = fits ? sizeBytes : 0;
    return fits;
  };
}

function mailboxesOf(headers: Headers): Pick<ParsedMessage, 'from' | 'to' | 'cc' | 'replyTo'> {
  const of = (name: string): string[] => {
    const value = headers.get(name) as AddressObject | AddressObject[] | undefined;
    return [value ?? []].flat().flatMap((object) => listMailboxes(object.value));
  };
  return { from: of('from'), to: of('to'), cc: of('cc'), replyTo: of('reply-to') };
}

/** Returns the texts of the parsed parts. mailparser keeps them in a tree that its types do not mention. */
function textsOf(parser: MailParser): MessageTexts & { isCut: boolean } {
  const { tree } = parser as MailParser & { tree: PartNode | false };
  const { text, html, isTextComplete } = joinTexts(tree || { children: [] });
  return {
    text: text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed(),
    html: html.slice(0, MAX_TEXT_CHARACTERS).toWellFormed(),
    isTextComplete,
    isCut: text.length > MAX_TEXT_CHARACTERS || html.length > MAX_TEXT_CHARACTERS,
  };
}
