/**
 * Writes a message (RFC 5322, RFC 2045) from its parts, without the two fields that are added when it is sent, `Date`
 * and DKIM-Signature. The same composition gives the same bytes, so that a resend is recognisable. Blind copies are
 * not part of a composition: they are in the envelope only (RFC 5322 section 3.6.3).
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
  /** File name as the caller gave it. It is cleaned before it is written. */
  filename: string;
  /** Media type `type/subtype`, with optional parameters. */
  contentType: string;
  /**
   * Content id, which makes the attachment inline: the HTML refers to it with `cid:` (RFC 2392). It has no angle
   * brackets.
   */
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
  /** Header fields that the caller set, in order: printable ASCII, and none of the fields that are written here. */
  headers: readonly { name: string; value: string }[];
  attachments: readonly Attachment[];
  /** Message id without its angle brackets. */
  messageId: string;
  /** Text from which the boundaries between the parts are derived. */
  boundarySeed: string;
};

/** A message in ASCII with CRLF line ends. No line exceeds 998 octets. */
export type ComposedMessage = {
  /** All fields and the empty line after them. */
  header: Buffer;
  /** The body in order. Each iteration produces it anew, so that a large attachment is never in memory twice. */
  body: Iterable<Buffer>;
};

/** Matches a message id: the characters of dot-atom-text on both sides of the `@` (RFC 5322 section 3.6.4). */
const MESSAGE_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+$/;
/**
 * Matches a content id. RFC 2045 section 7 requires the form of a message id, but ids without `@` are common and
 * readers compare them as plain text, so that part is optional. The characters are those of dot-atom-text (RFC 5322
 * section 3.2.3).
 */
const CONTENT_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+(?:@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+)?$/;
const MAX_CONTENT_ID_CHARACTERS = 256;
/**
 * Fields that callers cannot set: they occur only once, define the meaning of others (RFC 5322 section 3.6, RFC
 * 2045), or are added when the message is sent.
 */
const NOT_CUSTOM: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'to', 'cc', 'bcc', 'reply-to', 'subject', 'date', 'message-id', 'mime-version'],
  ...['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'],
  ...['return-path', 'received', 'dkim-signature'],
]);

/**
 * Composes a message.
 * @throws RangeError when a header field would break the header, or when a content type or a content id is not valid
 */
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

/**
 * Nests the parts as readers expect: `mixed` around `alternative` around `related`. Without HTML that could refer to
 * them, inline parts are ordinary attachments.
 */
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

  // The type of a related part is that of its first part, which the others belong to (RFC 2387 section 3.1).
  const shown = page && inline.length > 0 ? nest('related', [page, ...inline], ['type="text/html"']) : page;
  // The plainest form comes first (RFC 2046 section 5.1.4).
  const forms = [plain, shown].filter((part) => part !== undefined);
  const [first = textEntity('plain', '')] = forms;
  const content = forms.length > 1 ? nest('alternative', forms) : first;
  if (others.length === 0) return content;
  return nest('mixed', [content, ...others]);
}

/**
 * Returns the part of an attachment.
 * @throws RangeError when its type or its content id is not valid
 */
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

/** Returns true for a text that can be a content id. The angle brackets are not part of it. */
export function isContentId(text: string): boolean {
  return text.length <= MAX_CONTENT_ID_CHARACTERS && CONTENT_ID.test(text);
}
