/**
 * Writes a message (RFC 5322, RFC 2045) from its parts, but for the fields of the moment it is sent at, `Date` and
 * DKIM-Signature. The same composition gives the same bytes, so that a resend is recognisable as one. Blind copies are
 * not part of a composition: they live in the envelope alone (RFC 5322 3.6.3).
 */
import type { Mailbox } from '../address.ts';
import type { Base64Source } from './base64.ts';
import {
  chooseBoundary,
  type Entity,
  type LeafEntity,
  type Multipart,
  multipart,
  textEntity,
  wholeBody,
} from './entity.ts';
import { encodeFile } from './file-body.ts';
import { cleanFilename, filenameParameters } from './filename.ts';
import { addressField, customField, parameterField, structuredField, textField } from './headers.ts';
import { type MediaType, parseMediaType, writeParameter } from './media-type.ts';

export type Attachment = {
  /** As given; made a plain name before it is written. */
  filename: string;
  /** `type/subtype`, with parameters if it has any. */
  contentType: string;
  /** Makes it inline, to be shown where `cid:` names it in the HTML (RFC 2392). Without angle brackets. */
  contentId: string | undefined;
  content: AttachmentContent;
};

export type AttachmentContent = Base64Source;

export type Composition = {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  replyTo: Mailbox[];
  subject: string;
  text: string | undefined;
  html: string | undefined;
  /** The caller's own, in order: printable ASCII, none of the fields written here. */
  headers: readonly { name: string; value: string }[];
  attachments: readonly Attachment[];
  /** Without its angle brackets. */
  messageId: string;
  /** Any text; the boundaries between the parts are derived from it. */
  boundarySeed: string;
};

/** With CRLF line ends, ASCII, no line above 998 octets. */
export type ComposedMessage = {
  /** All fields, and the empty line that ends them. */
  header: Buffer;
  /** In order. Written as it is read, and anew each time, so that a large attachment is never held twice. */
  body: Iterable<Buffer>;
};

/** The id's characters: those of RFC 5322 3.6.4 dot-atom-text on both sides of the `@`. */
const MESSAGE_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+$/;
/** RFC 2045 7 asks for a msg-id. Ids without `@` are common and every reader compares them as they stand, so the part
 * behind it may be missing; the characters are those of RFC 5322 3.2.3 dot-atom-text. */
const CONTENT_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+(?:@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+)?$/;
const MAX_CONTENT_ID_CHARACTERS = 256;
/** Fields that stand once, or decide what the others mean (RFC 5322 3.6, RFC 2045), or are added on the way out. */
const NOT_CUSTOM: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'to', 'cc', 'bcc', 'reply-to', 'subject', 'date', 'message-id', 'mime-version'],
  ...['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'],
  ...['return-path', 'received', 'dkim-signature'],
]);

/** @throws RangeError when a header field cannot be written without breaking the header, and for a content type or a
 * content id that is none */
export function compose(message: Composition): ComposedMessage {
  const root = rootEntity(message);
  return {
    header: Buffer.from(`${writeHeader(message)}${root.fields}\r\n`, 'latin1'),
    body: { [Symbol.iterator]: () => wholeBody(root) },
  };
}

function writeHeader(message: Composition): string {
  if (!MESSAGE_ID.test(message.messageId)) throw new RangeError('the message id is not one');
  return (
    addressField('From', [message.from]) +
    optionalAddresses('To', message.to) +
    optionalAddresses('Cc', message.cc) +
    optionalAddresses('Reply-To', message.replyTo) +
    textField('Subject', message.subject) +
    structuredField('Message-ID', `<${message.messageId}>`) +
    message.headers.map(ownField).join('') +
    structuredField('MIME-Version', '1.0')
  );
}

function optionalAddresses(name: string, mailboxes: readonly Mailbox[]): string {
  return mailboxes.length === 0 ? '' : addressField(name, mailboxes);
}

function ownField({ name, value }: { name: string; value: string }): string {
  if (NOT_CUSTOM.has(name.toLowerCase()))
    throw new RangeError(`header field ${name} is not the caller's to set`);
  return customField(name, value);
}

/** `mixed` around `alternative` around `related`: the nesting that readers expect. Without HTML that could show them,
 * inline parts are attachments like others. */
function rootEntity({ text, html, attachments, boundarySeed }: Composition): Entity {
  const page = html === undefined ? undefined : textEntity('html', html);
  const plain = text === undefined && page ? undefined : textEntity('plain', text ?? '');
  const isInline = ({ contentId }: Attachment) => page !== undefined && contentId !== undefined;
  const inline = attachments.filter(isInline).map((part) => attachmentEntity(part, 'inline'));
  const others = attachments
    .filter((part) => !isInline(part))
    .map((part) => attachmentEntity(part, 'attachment'));
  const leaves = [plain, page, ...inline, ...others].filter((part) => part !== undefined);
  const nest = (subtype: Multipart['subtype'], parts: readonly Entity[], parameters: string[] = []) =>
    multipart(parts, { subtype, parameters, boundary: chooseBoundary(`${subtype}:${boundarySeed}`, leaves) });

  // RFC 2387 3.1: the type is that of the first part, which the others belong to.
  const shown = page && inline.length > 0 ? nest('related', [page, ...inline], ['type="text/html"']) : page;
  // RFC 2046 5.1.4: the plainest form first.
  const forms = [plain, shown].filter((part) => part !== undefined);
  const [first = textEntity('plain', '')] = forms;
  const content = forms.length > 1 ? nest('alternative', forms) : first;
  if (others.length === 0) return content;
  return nest('mixed', [content, ...others]);
}

/** @throws RangeError when its type or its id is none */
function attachmentEntity(attachment: Attachment, disposition: 'attachment' | 'inline'): LeafEntity {
  const { contentId, content } = attachment;
  if (contentId !== undefined && !isContentId(contentId)) throw new RangeError('the content id is not one');
  const { filename, name } = filenameParameters(cleanFilename(attachment.filename));
  const media = mediaTypeOf(attachment.contentType);
  const { encoding, pieces, holds } = encodeFile(media.type, content);
  return {
    fields:
      parameterField('Content-Type', [...writeMediaType(media), name]) +
      structuredField('Content-Transfer-Encoding', encoding) +
      (contentId === undefined ? '' : structuredField('Content-ID', `<${contentId}>`)) +
      parameterField('Content-Disposition', [disposition, filename]),
    body: pieces,
    holds,
  };
}

const OCTET_STREAM: MediaType = { type: 'application', subtype: 'octet-stream', parameters: [] };

/**
 * Returns the media type of an attachment. A message or a multipart is sent as `application/octet-stream`: it must not
 * be in base64 (RFC 2045 6.4, RFC 2046 5.2), and only base64 preserves the bytes as they were given.
 * @throws RangeError
 */
function mediaTypeOf(contentType: string): MediaType {
  const media = parseMediaType(contentType);
  if (!media) throw new RangeError('the content type is not one');
  return media.type === 'message' || media.type === 'multipart' ? OCTET_STREAM : media;
}

/** Writes the type and its parameters. It leaves out `name`, because the file's own name is written. */
function writeMediaType({ type, subtype, parameters }: MediaType): string[] {
  const others = parameters.filter((parameter) => parameter.name !== 'name');
  return [
    `${type}/${subtype}`,
    ...others.map((parameter) => writeParameter(parameter.name, parameter.value)),
  ];
}

export function isContentId(text: string): boolean {
  return text.length <= MAX_CONTENT_ID_CHARACTERS && CONTENT_ID.test(text);
}
