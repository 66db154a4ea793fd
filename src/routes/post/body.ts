/**
 * Builds the body of a post to a route (specification 4.11): the fields of the specification first, then what we add.
 * Files are in the body while it stays within its maximum size; beyond that, the body has links to them.
 */

import type { EmailRow } from '../../db/email-tables.ts';
import type { ReceivedMessageRow, ReceivedRecipientRow } from '../../db/inbound-tables.ts';
import { type Authentication, addressesOf, readShortResults } from '../../inbound/received-rows.ts';
import type { SpamReason } from '../../inbound/spam-signals.ts';
import { findField, type HeaderField, readHeaderFields } from '../../mail/message/parse/header-fields.ts';
import type { MessageContent } from '../../mail/message/parse/parser.ts';
import { isoTime } from '../../system/clock.ts';
import { isoTimeOrNull } from '../../webhooks/schemas.ts';
import { readReplyText } from './reply-text.ts';

/** Fields that programs set which do not know RFC 3834. */
const AUTOMATIC_FIELDS = ['x-autoreply', 'x-autorespond', 'x-auto-reply', 'x-mail-autoreply'] as const;

/** Maximum number of bytes of one UTF-16 code unit in JSON, that of a control character. */
const MAX_BYTES_PER_UNIT = 6;
/** Part of the expected length that is kept, so that the cut seldom has to be repeated. */
const KEPT = 0.95;

/** Maximum size of a body that contains files. Without files it is smaller (`MAX_TEXT_JSON_BYTES`). */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Maximum size of the text, and of the HTML, as JSON. The rest is cut. */
const MAX_TEXT_JSON_BYTES = 3 * 1024 * 1024;

/** A message with everything that goes into a post. */
type PostedMessage = {
  message: ReceivedMessageRow;
  /** Addresses of the envelope that led to the route. */
  recipients: readonly Pick<ReceivedRecipientRow, 'address'>[];
  content: MessageContent;
  /** Returns the link to a file by its number, or to the whole message for 0. */
  linkTo(file: number): string;
};

/** Everything but the bytes of files. The names and their order are those of the post. */
export type MessageFields = {
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
  attachments: FileFields[];
  id: ReceivedMessageRow['id'];
  cc: string[];
  replyTo: string[];
  messageId: string | null;
  inReplyTo: string | null;
  date: string | null;
  receivedAt: string;
  envelope: { from: string; to: string[]; remoteIp: string; helo: string | null };
  auth: Authentication;
  spam: { score: number | null; flagged: boolean; reasons: SpamReason[] };
  rawHeaders: { name: string; value: string }[];
  truncated: boolean;
  rawUrl: string | null;
  emailId: EmailRow['id'] | null;
  replyText: string;
  autoSubmitted: boolean;
};

type FileFields = {
  id: string;
  filename: string;
  contentType: string;
  size: number;
  contentId: string | null;
  disposition: 'attachment' | 'inline';
};

/** Returns the body as JSON in UTF-8. */
export function buildBody(posted: PostedMessage): Buffer {
  const fields = showMessage(posted);
  const files = posted.content.kind === 'parsed' ? posted.content.files : [];
  const { from, to, subject, text, html, headers, attachments, ...others } = fields;
  const first = JSON.stringify({ from, to, subject, text, html, headers });
  const head = Buffer.from(`${first.slice(0, -1)},"attachments":[`);
  const tail = Buffer.from(`],${JSON.stringify(others).slice(1)}`);
  const links = attachments.map((file, index) => ({
    ...file,
    downloadUrl: posted.linkTo(index + 1),
  }));
  const shown: (Buffer | EncodedFile)[] = [];
  let leftBytes = MAX_BODY_BYTES - head.length - tail.length - Buffer.byteLength(JSON.stringify(links));
  for (const [index, file] of attachments.entries()) {
    const content = files[index]?.content;
    const sizeBytes = base64Length(content?.length ?? 0);
    const isInline = content != null && sizeBytes <= leftBytes;
    if (isInline) leftBytes -= sizeBytes;
    if (index > 0) shown.push(Buffer.from(','));
    shown.push(...(isInline ? inlineFile(file, content) : [Buffer.from(JSON.stringify(links[index]))]));
  }
  return join([head, ...shown, tail]);
}

/** Bytes that the body has in base64. */
type EncodedFile = { content: Uint8Array };

function inlineFile(file: FileFields, content: Uint8Array): (Buffer | EncodedFile)[] {
  const fields = JSON.stringify(file).slice(0, -1);
  return [Buffer.from(`${fields},"content":"`), { content }, Buffer.from('"}')];
}

function base64Length(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 3) * 4;
}

/** Number of bytes that are encoded at a time, so that no string is large. It is a multiple of 3. */
const SLICE_BYTES = 48 * 1024;

/** Joins the parts. Files are encoded directly into the result. */
function join(parts: readonly (Buffer | EncodedFile)[]): Buffer {
  const sizes = parts.map((part) =>
    Buffer.isBuffer(part) ? part.length : base64Length(part.content.length),
  );
  const body = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      at += part.copy(body, at);
      continue;
    }
    const { buffer, byteOffset, length } = part.content;
    const bytes = Buffer.from(buffer, byteOffset, length);
    for (let start = 0; start < length; start += SLICE_BYTES)
      at += body.write(bytes.toString('base64', start, Math.min(start + SLICE_BYTES, length)), at, 'latin1');
  }
  return body;
}

/** Returns the fields of a post, without the bytes of files. */
export function showMessage({ message, recipients, content, linkTo }: PostedMessage): MessageFields {
  const fields = [...traceFields(message), ...content.fields];
  const parsed = content.kind === 'parsed' ? content : undefined;
  const { text, html, replyText, truncated: isCut } = showTexts(content, MAX_TEXT_JSON_BYTES);
  const to = addressesOf(recipients);
  return {
    from: parsed?.from[0] ?? message.headerFrom ?? message.sender,
    to: parsed !== undefined && parsed.to.length > 0 ? parsed.to : to,
    subject: parsed?.subject ?? message.subject ?? '',
    text,
    html,
    headers: headersObject(fields),
    attachments: showFiles(content),
    id: message.id,
    cc: parsed?.cc ?? [],
    replyTo: parsed?.replyTo ?? [],
    messageId: parsed?.messageId ?? (message.messageId === null ? null : `<${message.messageId}>`),
    inReplyTo: parsed?.inReplyTo ?? null,
    date: isoTimeOrNull(parsed?.date ?? null),
    receivedAt: isoTime(message.createdAt),
    envelope: { from: message.sender, to, remoteIp: message.remoteAddress, helo: message.helo },
    auth: readShortResults(message.auth),
    spam: {
      score: message.spamScore,
      flagged: message.flagged === 1,
      reasons: JSON.parse(message.spamReasons) as SpamReason[],
    },
    rawHeaders: fields.map(({ name, value }) => ({ name, value })),
    truncated: isCut,
    rawUrl: isCut ? linkTo(0) : null,
    emailId: message.emailId,
    replyText,
    autoSubmitted: isAutoSubmitted(message, content.fields),
  };
}

type ShownTexts = Pick<MessageFields, 'text' | 'html' | 'replyText' | 'truncated'>;

/** Returns the texts of a message, each of which has at most about `maxJsonBytes` as JSON. */
export function showTexts(content: MessageContent, maxJsonBytes: number): ShownTexts {
  const parsed = content.kind === 'parsed' ? content : undefined;
  const text = shortenToJson(parsed?.text ?? '', maxJsonBytes);
  const html = shortenToJson(parsed?.html ?? '', maxJsonBytes);
  const truncated = parsed === undefined || parsed.isCut || text !== parsed.text || html !== parsed.html;
  return { text, html, replyText: readReplyText(text), truncated };
}

/** Returns the files of a message without their bytes. */
export function showFiles(content: MessageContent): FileFields[] {
  const files = content.kind === 'parsed' ? content.files : [];
  return files.map((file, index) => ({
    id: String(index + 1),
    filename: file.filename,
    contentType: file.contentType,
    size: file.sizeBytes,
    contentId: file.contentId,
    disposition: file.disposition,
  }));
}

/** Returns the beginning of a text whose JSON has at most about this many bytes. */
function shortenToJson(text: string, maxBytes: number): string {
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return text;
  let shortened = text;
  for (let bytes = jsonBytes(shortened); bytes > maxBytes; bytes = jsonBytes(shortened))
    shortened = shortened.slice(0, Math.floor((shortened.length * maxBytes * KEPT) / bytes)).toWellFormed();
  return shortened;
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

/** Returns true when a program sent the message in response to another one, or about one. */
function isAutoSubmitted(
  { sender }: Pick<ReceivedMessageRow, 'sender'>,
  fields: readonly HeaderField[],
): boolean {
  // Notifications have the null sender, so that nobody answers them (RFC 5321 section 4.5.5).
  if (sender === '') return true;
  // Every value but `no` means automatic, whatever parameters follow it (RFC 3834 section 5).
  const keyword = /^[a-z-]*/i.exec(findField(fields, 'auto-submitted')?.value ?? 'no')?.[0].toLowerCase();
  if (keyword !== 'no') return true;
  const precedence = findField(fields, 'precedence')?.value.toLowerCase();
  return precedence === 'auto_reply' || AUTOMATIC_FIELDS.some((name) => findField(fields, name));
}

/** Returns the fields that were added when the message arrived. */
function traceFields({ trace }: Pick<ReceivedMessageRow, 'trace'>): HeaderField[] {
  return readHeaderFields(Buffer.from(trace));
}

/**
 * Returns the values by name. Names are in lower case, and the values of repeated names are joined by a line feed. The
 * object has no prototype, because a field may be named like a property of every object.
 */
function headersObject(fields: readonly HeaderField[]): Record<string, string> {
  const values = new Map<string, string[]>();
  for (const { name, text } of fields) {
    const key = name.toLowerCase();
    const known = values.get(key);
    if (known) known.push(text);
    else values.set(key, [text]);
  }
  const headers: Record<string, string> = Object.create(null);
  for (const [name, texts] of values) {
    Object.defineProperty(headers, name, {
      value: texts.join('\n'),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return headers;
}
