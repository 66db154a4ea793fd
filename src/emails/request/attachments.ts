/**
 * Reads attachments (specification 4.1). Each has a name, a type, and either base64 content or the URL of a file.
 * load-attachments.ts checks the base64 and fetches the files, which takes longer.
 */
import { lookup } from 'mime-types';
import { meantAmong } from '../../http/json/near-misses.ts';
import { readAll, readEach } from '../../http/json/read-fields.ts';
import { isContentId } from '../../mail/message/file-part.ts';
import { cleanFilename } from '../../mail/message/filename.ts';
import { parseMediaType } from '../../mail/message/media-type.ts';
import { invalid } from '../../system/errors.ts';
import { base64Size } from '../base64.ts';
import { ATTACHMENT_FIELDS, type AttachmentBody, MAX_ATTACHMENT_BYTES } from '../schemas.ts';

export type AttachmentRequest = {
  /** Path of the attachment in the request, for example `attachments[1]`. */
  at: string;
  filename: string;
  contentType: string;
  contentId: string | undefined;
  disposition?: AttachmentBody['disposition'];
  source: AttachmentSource;
};

type AttachmentSource =
  /** The bytes are not yet checked to be base64. */
  { kind: 'base64'; ascii: Uint8Array } | RemoteSource;

/** `path` is the field that names the URL. Errors name it. */
export type RemoteSource = { kind: 'remote'; path: string; url: URL };

/** Finds the bytes of contents that were taken out of the body (http/json/large-strings.ts). */
export type FindContent = (value: string) => Uint8Array | undefined;

/**
 * Returns the attachments of a request.
 * @throws AppError validation_error naming the field, for example `attachments[1].path`
 */
export function readAttachments(
  attachments: readonly AttachmentBody[] | undefined,
  findContent: FindContent,
): AttachmentRequest[] {
  const requests = readEach(attachments ?? [], (body, index) =>
    readAttachment(`attachments[${index}]`, body, findContent),
  );
  refuseDuplicateIds(requests);
  const bytes = requests.reduce((sum, { source }) => sum + knownSize(source), 0);
  if (bytes > MAX_ATTACHMENT_BYTES)
    throw invalid('attachments', '`attachments` must be at most 25 MiB in total');
  return requests;
}

/** Returns the decoded size of an attachment in bytes; zero for a file that is not fetched yet. */
export function knownSize(source: AttachmentSource): number {
  return source.kind === 'base64' ? base64Size(source.ascii) : 0;
}

function readAttachment(at: string, body: AttachmentBody, findContent: FindContent): AttachmentRequest {
  const { file, contentType, contentId } = readAll({
    nearMisses: () => refuseNearMisses(at, body),
    file: () => {
      const source = readSource(at, body, findContent);
      return { source, filename: readFilename(at, body.filename, source) };
    },
    contentType: () => readContentType(`${at}.contentType`, body.contentType),
    contentId: () => readContentId(`${at}.contentId`, body.contentId),
  });
  return {
    at,
    ...file,
    contentType: contentType ?? typeByName(file.filename),
    contentId,
    disposition: body.disposition,
  };
}

const meantBy = meantAmong(ATTACHMENT_FIELDS);

/** Refuses misspelled fields. A dropped `content_type` or `file_name` would silently send a different email. */
function refuseNearMisses(at: string, body: AttachmentBody): void {
  for (const field of Object.keys(body)) {
    const meant = meantBy(field);
    if (meant !== undefined && meant !== field)
      throw invalid(`${at}.${field}`, `\`${at}.${field}\` is not a field; did you mean \`${meant}\`?`);
  }
}

function readSource(at: string, { content, path, url }: AttachmentBody, findContent: FindContent) {
  const given = Object.entries({ content, path, url }).filter(([, value]) => value !== undefined);
  if (given.length === 0)
    throw invalid(`${at}.content`, `\`${at}.content\` is required when \`path\` is absent`);
  const [, second] = given;
  if (second)
    throw invalid(`${at}.${second[0]}`, `\`${at}\` must have one of \`content\`, \`path\` and \`url\``);
  const remote = path ?? url;
  if (remote !== undefined) {
    const field = `${at}.${path === undefined ? 'url' : 'path'}`;
    return { kind: 'remote', path: field, url: readRemoteUrl(field, remote) } as const;
  }
  // Characters that are not base64 become bytes that are not base64 either.
  const ascii = findContent(content ?? '') ?? Buffer.from(content ?? '');
  return { kind: 'base64', ascii } as const;
}

function readFilename(at: string, filename: string | undefined, source: AttachmentSource): string {
  const name = filename ?? (source.kind === 'remote' ? filenameOf(source.url) : undefined);
  if (name === undefined) throw invalid(`${at}.filename`, `\`${at}.filename\` is required`);
  return cleanFilename(name);
}

/** Returns the media type that the message is sent with and that the API shows (mail/message/entity.ts). */
function readContentType(path: string, contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined;
  const media = parseMediaType(contentType);
  if (!media) throw invalid(path, `\`${path}\` must be a media type such as application/pdf`);
  return isComposite(media.type) ? UNKNOWN_TYPE : contentType;
}

const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * Returns the media type that the extension of a file name stands for. Without a known extension it is
 * application/octet-stream.
 */
function typeByName(filename: string): string {
  const type = filename.includes('.') && lookup(filename);
  return !type || isComposite(type.split('/')[0]) ? UNKNOWN_TYPE : type;
}

/**
 * Returns true for types of parts that contain other parts. Such a part must not be base64 (RFC 2046 section 5), so it is sent
 * as application/octet-stream.
 */
function isComposite(type: string | undefined): boolean {
  return type === 'message' || type === 'multipart';
}

/** Returns the content id without angle brackets. */
function readContentId(path: string, contentId: string | undefined): string | undefined {
  const bare = contentId?.replace(/^<(.*)>$/, '$1');
  if (bare !== undefined && !isContentId(bare))
    throw invalid(path, `\`${path}\` must be an id such as logo or logo@example.com`);
  return bare;
}

/** Refuses two attachments with the same id, because a `cid:` URL refers to exactly one (RFC 2392 section 2). */
function refuseDuplicateIds(requests: readonly AttachmentRequest[]): void {
  const seen = new Set<string>();
  for (const { at, contentId } of requests) {
    if (contentId === undefined) continue;
    if (seen.has(contentId))
      throw invalid(`${at}.contentId`, `\`${at}.contentId\` is the id of another attachment`);
    seen.add(contentId);
  }
}

/**
 * Returns the URL of a file.
 * @throws AppError validation_error naming `path`
 */
function readRemoteUrl(path: string, text: string): URL {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (!url) throw invalid(path, `\`${path}\` must be an absolute URL that starts with https://`);
  return url;
}

/** Returns the last segment of the path as a file name; undefined when it is empty. */
function filenameOf(url: URL): string | undefined {
  const last = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  return (decode(last) ?? last) || undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
