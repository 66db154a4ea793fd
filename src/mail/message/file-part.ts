/** The parts of a message that are files: attachments, and inline images that its HTML shows. */
import { isAscii, isUtf8 } from 'node:buffer';
import { type Base64Source, bytesOf } from './base64.ts';
import type { Calendar } from './calendar.ts';
import { type LeafEntity, leafEntity } from './entity.ts';
import { encodeFile } from './file-body.ts';
import { cleanFilename, filenameParameters } from './filename.ts';
import { parameterField, structuredField } from './headers.ts';
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
  /** How a reader shows the file; undefined for an image of the HTML, and for a file behind the text. */
  disposition?: Disposition | undefined;
  content: AttachmentContent;
};

type AttachmentContent = Base64Source;

export const DISPOSITIONS = ['inline', 'attachment'] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** Place of a file in the message: `inline` beside the HTML that shows it, `calendar` as the last form of the text, `attachment` behind the text. */
export type Placement = Disposition | 'calendar';

export type FilePart = { placement: Placement; entity: LeafEntity };

/**
 * Matches a content id. RFC 2045 section 7 requires the form of a message id, but ids without `@` are common and
 * readers compare them as plain text, so that part is optional. The characters are those of dot-atom-text (RFC 5322
 * section 3.2.3).
 */
const CONTENT_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+(?:@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+)?$/;
const MAX_CONTENT_ID_CHARACTERS = 256;

/**
 * Returns the parts of the attachments, in order. Without HTML that could refer to them, inline ones are ordinary
 * attachments.
 * @throws RangeError when a content type or a content id is not valid
 */
export function fileParts(attachments: readonly Attachment[], hasHtml: boolean): FilePart[] {
  return attachments.map((attachment) => {
    const placement = placementOf(attachment, hasHtml);
    return { placement, entity: attachmentEntity(attachment, attachment.disposition ?? placement) };
  });
}

/** Returns the place of an attachment. HTML refers to a file with a content id, unless it is to be an attachment. */
export function placementOf(
  { contentId, disposition }: Pick<Attachment, 'contentId' | 'disposition'>,
  hasHtml: boolean,
): Disposition {
  return hasHtml && contentId !== undefined && disposition !== 'attachment' ? 'inline' : 'attachment';
}

/** Returns the part of an invitation that mail programs read (RFC 6047 section 2.4). */
export function calendarPart({ method, content }: Calendar): FilePart {
  return {
    placement: 'calendar',
    entity: leafEntity(`text/calendar; method=${method}; charset=utf-8`, content),
  };
}

/** Returns parts that stand for files whose bytes are stored already: they shape the message and have no bytes. */
export function storedFileParts(placements: readonly Placement[]): FilePart[] {
  return placements.map((placement) => ({ placement, entity: STORED }));
}

const STORED: LeafEntity = { fields: '', body: () => [], holds: () => false };

/**
 * Returns the part of an attachment.
 * @throws RangeError when its type or its content id is not valid
 */
function attachmentEntity(attachment: Attachment, disposition: Disposition): LeafEntity {
  const { contentId, content } = attachment;
  if (contentId !== undefined && !isContentId(contentId))
    throw new RangeError('the value is not a content id');
  const { filename, name } = filenameParameters(cleanFilename(attachment.filename));
  const media = withCharset(mediaTypeOf(attachment.contentType), content);
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
 * be in base64 (RFC 2045 section 6.4, RFC 2046 section 5.2), and only base64 preserves the bytes as they were given.
 * @throws RangeError
 */
function mediaTypeOf(contentType: string): MediaType {
  const media = parseMediaType(contentType);
  if (!media) throw new RangeError('the value is not a content type');
  return media.type === 'message' || media.type === 'multipart' ? OCTET_STREAM : media;
}

/** Returns the type with the charset UTF-8 for a text in UTF-8 that does not say its own; ASCII is the default (RFC 2046 section 4.1.2). */
function withCharset(media: MediaType, content: AttachmentContent): MediaType {
  if (media.type !== 'text' || media.parameters.some(({ name }) => name === 'charset')) return media;
  const bytes = bytesOf(content);
  if (isAscii(bytes) || !isUtf8(bytes)) return media;
  return { ...media, parameters: [...media.parameters, { name: 'charset', value: 'utf-8' }] };
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
