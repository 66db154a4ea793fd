/**
 * Reads a message into its texts, addresses and files, for posts to routes and for the API. Its parts are those that mailboxes have
 * (mime-tree.ts). Hostile messages can make it slow or large, so it runs in threads that are terminated (parser.ts).
 */
import { domainToASCII } from 'node:url';
import { MISSING_HOST, MISSING_MAILBOX, readAddressList } from '../address-list.ts';
import { decodeWords } from '../decode-words.ts';
import { type MimeEntity, readMimeTree } from '../mime-tree.ts';
import { decodePartText, decodeTextOctets } from '../part-text.ts';
import { type MessagePart, type ParsedFile, readFiles, readParts, type WantedContent } from './files.ts';
import { findField, type HeaderField, readDate, readHeaderFields, readMessageIds } from './header-fields.ts';

export type ReadJob = {
  message: Uint8Array;
  content: WantedContent;
};

/** Facts that the header of a message has. */
export type HeaderFacts = {
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
};

export type ParsedMessage = MessageTexts &
  HeaderFacts & {
    /** True when a text is longer than what is kept of it. */
    isCut: boolean;
    fields: HeaderField[];
    files: ParsedFile[];
  };

/** Maximum number of parts of a message. With more, the message is not parsed. */
const MAX_PARTS = 1_000;
/** Maximum length of the text, and of the HTML. The rest is cut. It is twice that of emails that are sent. */
export const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024;
/** Maximum size of the encoded text of a part that is decoded. Quoted-printable takes at most three octets for an octet. */
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
  return {
    ...readHeaderFacts(fields),
    ...cutTexts(hasText ? texts : { ...packed, isTextComplete: packed.text !== '' }, isCut),
    fields,
    files,
  };
}

/** Returns what the fields of a header say. */
export function readHeaderFacts(fields: readonly HeaderField[]): HeaderFacts {
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

/** Maximum number of addresses of one field; further ones are left out. Lists of recipients have some hundreds. */
const MAX_ADDRESSES = 10_000;
/** Matches a display name that needs no quotes. Letters of every script are allowed (RFC 6532 section 3.2). */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}!#$%&'*+\-/=?^_`{|}~ ]+$/u;
/** Matches a local part that needs no quotes. Dots may stand anywhere, as in addresses of some providers. */
const PLAIN_LOCAL_PART = /^[^\s"(),:;<>@[\\\]]+$/;
/** Matches the characters that would break a line or hide a part of the address. */
const DROPPED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/**
 * Returns each mailbox of the fields with a name, which is in lower case, as `address`, or as `Name <address>` with the name decoded.
 * Groups are dissolved into their members, and entries without an address are left out.
 */
export function listMailboxes(fields: readonly HeaderField[], name: string): string[] {
  const values = fields.filter((field) => field.name.toLowerCase() === name).map(({ value }) => value);
  const list = values.map((value) => (value.includes('@') ? value : decodeWords(value))).join(', ');
  return readAddressList(list, MAX_ADDRESSES).flatMap((address) => {
    const { mailbox, host } = address;
    if (mailbox === null || host === null || mailbox === MISSING_MAILBOX || host === MISSING_HOST) return [];
    const bare = `${quoteLocalPart(mailbox.replace(DROPPED, ''))}@${withALabels(host.replace(DROPPED, ''))}`;
    const shown = decodeWords(address.name ?? '')
      .replace(DROPPED, ' ')
      .trim();
    return shown === '' || shown === bare ? [bare] : [`${quoteName(shown)} <${bare}>`];
  });
}

function quoteName(name: string): string {
  return PLAIN_NAME.test(name) ? name : quote(name);
}

function quoteLocalPart(text: string): string {
  return PLAIN_LOCAL_PART.test(text) ? text : quote(text);
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns the domain in A-labels, which is the form that the rest of the API has. */
function withALabels(host: string): string {
  return domainToASCII(host) || host;
}

type MessageTexts = {
  /** Empty when no part is plain text. */
  text: string;
  /** All parts, those of plain text included; empty when no part is HTML. */
  html: string;
  /** False when a part has HTML only, so that `text` does not contain its words. */
  isTextComplete: boolean;
};

type Passage = { plain: string } | { html: string };
type Passages = { text: string[]; shown: Passage[]; isTextComplete: boolean };

/** Returns the decoded text of a part. */
type Decode = (entity: MimeEntity) => string;

const NOTHING: Passages = { text: [], shown: [], isTextComplete: true };

/** Returns the texts of a message. */
function joinTexts(root: MessagePart, decode: Decode): MessageTexts {
  const { text, shown, isTextComplete } = passagesOf(root, decode);
  const hasHtml = shown.some(isHtml);
  const html = hasHtml
    ? shown.map((passage) => (isHtml(passage) ? passage.html : toHtml(passage.plain)))
    : [];
  return { text: text.join('\n'), html: html.join('\n'), isTextComplete };
}

function passagesOf(part: MessagePart, decode: Decode): Passages {
  if (part.kind === 'file') return NOTHING;
  if (part.kind === 'text') {
    const content = decode(part.entity);
    // Some programs write a blank text beside the HTML, which says everything.
    if (content.trim() === '') return NOTHING;
    return part.entity.subtype === 'html'
      ? { text: [], shown: [{ html: content }], isTextComplete: false }
      : { text: [content], shown: [{ plain: content }], isTextComplete: true };
  }
  const parts = part.parts.map((inner) => passagesOf(inner, decode)).filter(({ shown }) => shown.length > 0);
  return part.isAlternative ? choose(parts) : join(parts);
}

/** Returns the plain form and the HTML form of an alternative. */
function choose(parts: readonly Passages[]): Passages {
  const plain = parts.find(({ isTextComplete }) => isTextComplete);
  // Forms are in the order of their richness, the richest one at the end (RFC 2046 section 5.1.4).
  const rich = parts.findLast(({ shown }) => shown.some(isHtml)) ?? plain;
  return {
    text: (plain ?? rich)?.text ?? [],
    shown: rich?.shown ?? [],
    isTextComplete: plain !== undefined || parts.length === 0,
  };
}

function join(parts: readonly Passages[]): Passages {
  return {
    text: parts.flatMap(({ text }) => text),
    shown: parts.flatMap(({ shown }) => shown),
    isTextComplete: parts.every(({ isTextComplete }) => isTextComplete),
  };
}

function isHtml(passage: Passage): passage is { html: string } {
  return 'html' in passage;
}

function toHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<p>${escaped.replaceAll('\n', '<br>\n')}</p>`;
}
