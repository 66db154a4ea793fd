/**
 * The parts of a message that are files: attachments, and inline images that its HTML shows. The receiver decodes exactly the bytes that were
 * given, so line ends are never changed. Files are sent in base64, except for texts that a person or a filter can then read as they stand
 * (rspamd counts base64 around plain ASCII as a disguise):
 * - ASCII with CRLF line ends, and without anything that a mail system may change on the way (RFC 2049 section 3), is sent in `7bit`.
 * - Other ASCII is sent in quoted-printable. LF alone is a line end on most machines, and 7bit would deliver it as CRLF; as `=0A` it arrives
 *   unchanged. Such a file takes about 1.2 times its size, against 1.4 times in base64.
 * - Other texts are sent in quoted-printable where that is shorter than base64, as it is for European languages.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { CR, EQUALS, LF, SPACE, TAB, TILDE } from '../octets.ts';
import { type Base64Source, base64Lines, bytesOf } from './base64.ts';
import type { Calendar } from './calendar.ts';
import { type EncodedBody, type LeafEntity, leafEntity } from './entity.ts';
import { cleanFilename, filenameParameters } from './filename.ts';
import { MAX_LINE_OCTETS, parameterField, structuredField } from './headers.ts';
import { type MediaType, parseMediaType, writeParameter } from './media-type.ts';
import { isFrom, quotedPrintable } from './quoted-printable.ts';

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

/**
 * Maximum size of a text that is analysed; larger ones are sent in base64. The choice of an encoding takes 3 ms of CPU time for each
 * megabyte, so ten attachments of this size block the event loop for 7 ms.
 */
export const MAX_READABLE_BYTES = 256 * 1024;

/** Chooses the encoding of a file. `type` is its top-level media type, in lower case. */
export function encodeFile(type: string, content: Base64Source): EncodedBody {
  const base64: EncodedBody = {
    encoding: 'base64',
    pieces: () => base64Lines(content),
    holds: () => false,
  };
  const sizeBytes = sizeOf(content);
  // An empty part is encoded, because some readers otherwise take the line end before the boundary for its body.
  if (type !== 'text' || sizeBytes === 0 || sizeBytes > MAX_READABLE_BYTES) return base64;
  // The bytes are decoded again each time they are read, so that only one attachment of a message is in memory twice.
  const bytes = bytesOf(content);
  const { survives7bit, isPlainText, lineEnds, quotedLength } = survey(bytes);
  if (survives7bit) {
    return {
      encoding: '7bit',
      pieces: () => [bytesOf(content)],
      holds: (boundary) => bytesOf(content).includes(boundary),
    };
  }
  const base64Length = Math.ceil(bytes.length / 3) * 4;
  if (!isPlainText && quotedLength > base64Length) return base64;
  return {
    encoding: 'quoted-printable',
    pieces: () => quotedPrintable(bytesOf(content), lineEnds),
    holds: () => false,
  };
}

type Survey = {
  /** True for ASCII without NUL. */
  isPlainText: boolean;
  /** `breaks` when CR and LF occur as CRLF only. */
  lineEnds: 'breaks' | 'data';
  /** Length in quoted-printable, without the soft breaks of long lines. */
  quotedLength: number;
  /** True when every mail system passes the bytes on unchanged (RFC 2045 section 2.7, RFC 2049 section 3). */
  survives7bit: boolean;
};

function survey(bytes: Buffer): Survey {
  const isPlainText = isAscii(bytes) && !bytes.includes(0);
  let isFragile = isFragileLine(bytes, lastLineStart(bytes), bytes.length);
  let quoted = 0;
  let bareLineEnds = 0;
  let lineStart = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (IS_SPECIAL[byte] === 0) continue;
    if (byte === LF) {
      const isBare = bytes[index - 1] !== CR;
      if (isBare) bareLineEnds++;
      isFragile ||= isFragileLine(bytes, lineStart, isBare ? index : index - 1);
      lineStart = index + 1;
    } else if (byte === CR) {
      if (bytes[index + 1] !== LF) bareLineEnds++;
    } else {
      quoted++;
      isFragile ||= byte !== EQUALS;
    }
  }
  return {
    isPlainText,
    lineEnds: bareLineEnds === 0 ? 'breaks' : 'data',
    // A quoted byte takes two characters more; a bare line end takes five: `=0A`, `=` and a line end instead of one
    // byte.
    quotedLength: bytes.length + 2 * quoted + 5 * bareLineEnds,
    survives7bit: isPlainText && !isFragile && bareLineEnds === 0,
  };
}

/**
 * Lookup table: 1 for a byte that ends a line or that quoted-printable encodes. White space is checked at the ends of
 * lines.
 */
const IS_SPECIAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte <= TILDE && byte !== EQUALS) ? 0 : 1,
);

/** Returns true for a line that a mail system may cut, strip or quote (RFC 2049 section 3). */
function isFragileLine(bytes: Buffer, start: number, end: number): boolean {
  const last = end > start ? bytes[end - 1] : undefined;
  return last === SPACE || last === TAB || end - start > MAX_LINE_OCTETS || isFrom(bytes, start);
}

function lastLineStart(bytes: Buffer): number {
  return bytes.lastIndexOf(LF) + 1;
}

/** Returns the size of the decoded file, padding included: it is exact enough for a limit. */
function sizeOf(content: Base64Source): number {
  return content.kind === 'base64' ? (content.ascii.length / 4) * 3 : content.bytes.length;
}
