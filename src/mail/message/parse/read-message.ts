/**
 * Reads a message into its texts and files, for posts to routes and for the API. Its parts are those that mailboxes have (mime-tree.ts).
 * Hostile messages can make it slow or large, so it runs in threads that are terminated (parser.ts).
 */
import { type MimeEntity, readMimeTree } from '../mime-tree.ts';
import { decodePartText, decodeTextOctets } from '../part-text.ts';
import { type ParsedFile, readFiles, type WantedContent } from './files.ts';
import { findField, type HeaderField, readDate, readHeaderFields, readMessageIds } from './header-fields.ts';
import { listMailboxes } from './mailboxes.ts';
import { readParts } from './parts.ts';
import { joinTexts, type MessageTexts } from './texts.ts';

export type ReadJob = {
  message: Uint8Array;
  content: WantedContent;
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
/** Maximum size of the encoded text of a part that is decoded. Our own limit: quoted-printable takes at most three octets for an octet. */
const MAX_TEXT_OCTETS = 3 * MAX_TEXT_CHARACTERS;

/**
 * Reads a message.
 * @throws HeaderTooLargeError, TooComplexError
 */
export function readMessage({ message, content }: ReadJob): ParsedMessage {
  const fields = readHeaderFields(message);
  const octets = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const root = readParts(readMimeTree(octets, MAX_PARTS));
  const { files, packed } = readFiles(octets, root, content);
  let isCut = false;
  const texts = joinTexts(root, (entity) => {
    isCut ||= entity.end - entity.body > MAX_TEXT_OCTETS;
    return textOf(octets, entity);
  });
  const hasText = texts.text !== '' || texts.html !== '';
  const idsOf = (name: string) => readMessageIds(findField(fields, name));
  return {
    from: listMailboxes(fields, 'from'),
    to: listMailboxes(fields, 'to'),
    cc: listMailboxes(fields, 'cc'),
    replyTo: listMailboxes(fields, 'reply-to'),
    subject: findField(fields, 'subject')?.text ?? '',
    date: readDate(findField(fields, 'date')),
    messageId: idsOf('message-id')[0] ?? null,
    inReplyTo: idsOf('in-reply-to')[0] ?? null,
    references: idsOf('references'),
    ...cutTexts(hasText ? texts : { ...packed, isTextComplete: packed.text !== '' }, isCut),
    fields,
    files,
  };
}

/** Returns the text of a part. One with an unknown encoding is shown as it was transferred. */
function textOf(octets: Buffer, entity: MimeEntity): string {
  const body = octets.subarray(entity.body, Math.min(entity.end, entity.body + MAX_TEXT_OCTETS));
  return decodePartText(body, entity) ?? decodeTextOctets(body, entity);
}

function cutTexts(
  { text, html, isTextComplete }: MessageTexts,
  isCut: boolean,
): MessageTexts & { isCut: boolean } {
  return {
    text: text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed(),
    html: html.slice(0, MAX_TEXT_CHARACTERS).toWellFormed(),
    isTextComplete,
    isCut: isCut || text.length > MAX_TEXT_CHARACTERS || html.length > MAX_TEXT_CHARACTERS,
  };
}
