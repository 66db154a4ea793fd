/** Composes drafts: new messages, answers and forwarded messages, as bytes with all header fields. */
import { type Mailbox, parseMailbox } from '../mail/address.ts';
import { composeBody, writeMessageFields } from '../mail/message/compose.ts';
import type { LeafEntity } from '../mail/message/entity.ts';
import { type FilePart, fileParts } from '../mail/message/file-part.ts';
import { addressField, formatDate, structuredField } from '../mail/message/headers.ts';
import type { ParsedFile } from '../mail/message/parse/files.ts';
import type { MessageContent } from '../mail/message/parse/parser.ts';
import { readHeaderFacts } from '../mail/message/parse/read-message.ts';
import { AppError } from '../system/errors.ts';

/** The message that a draft answers or forwards. `bytes` are those of a message that is attached whole. */
export type Original = { content: MessageContent; bytes?: Buffer };

type Draft = {
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  bcc: readonly Mailbox[];
  subject: string;
  text: string | undefined;
  html: string | undefined;
  /** Message-ID without angle brackets. */
  messageId: string;
  /** Unix milliseconds. */
  date: number;
  answers?: Original | undefined;
  forwards?: Original | undefined;
};

/** Maximum size of a draft. Most servers accept messages of this size. */
export const MAX_DRAFT_BYTES = 25 * 1024 * 1024;
/** Maximum number of references that a reply has: the first one, and the newest others. */
const MAX_REFERENCES = 20;
/** Matches a message id that can stand in a header field as it is. Strangers write others too. */
const PLAIN_ID = /^<[!-;=?-~]{1,250}>$/;
const PLAIN_TYPE = /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/i;

/**
 * Returns the bytes of a draft. Its blind copies have a field, which is removed when it is sent.
 * @throws AppError payload_too_large
 */
export function composeDraft(draft: Draft): Buffer {
  const { from, to, cc, bcc, subject, text, html, messageId, date, answers, forwards } = draft;
  const files = forwards ? filesOf(forwards, html !== undefined) : [];
  const headers = [...(answers ? replyFields(answers) : []), ...(forwards ? forwardFields(forwards) : [])];
  const body = composeBody(
    { text: text ?? (html === undefined ? '' : undefined), html, boundarySeed: messageId },
    files,
  );
  const fields =
    structuredField('Date', formatDate(date)) +
    writeMessageFields({ from, to, cc, replyTo: [], subject, headers, messageId }) +
    (bcc.length > 0 ? addressField('Bcc', bcc) : '') +
    body.fields;
  const pieces = [Buffer.from(`${fields}\r\n`), ...body.pieces];
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  if (sizeBytes > MAX_DRAFT_BYTES)
    throw new AppError('payload_too_large', `A draft has at most ${MAX_DRAFT_BYTES} bytes with its files`);
  return Buffer.concat(pieces);
}

/** Returns the fields with which mail programs put an answer into its thread (RFC 5322 section 3.6.4). */
function replyFields({ content }: Original) {
  const { messageId, references, inReplyTo } = readHeaderFacts(content.fields);
  if (messageId === null || !PLAIN_ID.test(messageId)) return [];
  const before = references.length > 0 ? references : inReplyTo === null ? [] : [inReplyTo];
  const plain = before.filter((id) => PLAIN_ID.test(id));
  const kept = [...plain.slice(0, 1), ...plain.slice(1).slice(-(MAX_REFERENCES - 2)), messageId];
  return [
    { name: 'In-Reply-To', value: messageId },
    { name: 'References', value: kept.join(' ') },
  ];
}

/** Thunderbird's field, by which programs mark the original as forwarded. */
function forwardFields({ content }: Original) {
  const { messageId } = readHeaderFacts(content.fields);
  if (messageId === null || !PLAIN_ID.test(messageId)) return [];
  return [{ name: 'X-Forwarded-Message-Id', value: messageId }];
}

function filesOf({ content, bytes }: Original, hasHtml: boolean): FilePart[] {
  if (bytes) return [{ placement: 'attachment', entity: messageEntity(bytes) }];
  const files = content.kind === 'parsed' ? content.files : [];
  return fileParts(files.flatMap(toAttachment), hasHtml);
}

/** A message is attached as it is, without a transfer encoding (RFC 2046 section 5.2.1). */
function messageEntity(bytes: Buffer): LeafEntity {
  return {
    fields:
      structuredField('Content-Type', 'message/rfc822') +
      structuredField('Content-Disposition', 'attachment; filename="forwarded.eml"') +
      structuredField('Content-Transfer-Encoding', '8bit'),
    body: () => [bytes],
    holds: (boundary) => bytes.includes(boundary),
  };
}

function toAttachment({ filename, contentType, content }: ParsedFile) {
  if (!content) return [];
  const isPlain = PLAIN_TYPE.test(contentType) && !/^(?:message|multipart)\//i.test(contentType);
  return [
    {
      filename,
      contentType: isPlain ? contentType : 'application/octet-stream',
      contentId: undefined,
      content: { kind: 'bytes' as const, bytes: content },
    },
  ];
}

/** Maximum length of the text that is quoted. */
const MAX_QUOTED_CHARACTERS = 64 * 1024;

/** Returns the texts of a draft with the message that it answers or forwards behind them. */
export function withQuote(
  { text, html }: Pick<Draft, 'text' | 'html'>,
  { content }: Original,
  kind: 'reply' | 'forward',
): Pick<Draft, 'text' | 'html'> {
  const { from, to, subject, date } = readHeaderFacts(content.fields);
  const quoted = (content.kind === 'parsed' ? content.text : '')
    .slice(0, MAX_QUOTED_CHARACTERS)
    .toWellFormed()
    .trimEnd();
  const at = date === null ? '' : new Date(date).toUTCString();
  const head =
    kind === 'reply'
      ? `${at === '' ? '' : `On ${at}, `}${from[0] ?? 'somebody'} wrote:`
      : `---------- Forwarded message ----------\nFrom: ${from[0] ?? ''}\nDate: ${at}\nSubject: ${subject}\nTo: ${to.slice(0, 20).join(', ')}\n`;
  const body = kind === 'reply' ? quoted.replace(/^/gm, '> ') : quoted;
  const plain = `${head}\n${body}`.replace(/\r\n?/g, '\n');
  return {
    ...(text !== undefined || html === undefined
      ? { text: `${text ?? ''}\n\n${plain}\n` }
      : { text: undefined }),
    html: html === undefined ? undefined : `${html}<br><blockquote>${toHtml(plain)}</blockquote>`,
  };
}

function toHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll('\n', '<br>\n');
}

/** Returns the addresses of an original that can be written to. */
export function readableMailboxes(texts: readonly string[]): Mailbox[] {
  return texts.flatMap((text) => parseMailbox(text) ?? []);
}
