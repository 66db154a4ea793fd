/** Loads the bytes of attachments: base64 content is checked, and remote files are fetched. */
import type { App } from '../app.ts';
import type { ApiKeyRow } from '../db/tenant-tables.ts';
import { type Attachment, placementOf } from '../mail/message/file-part.ts';
import { invalid } from '../system/errors.ts';
import { base64Size, isBase64 } from './base64.ts';
import { type Allowance, type Downloads, type FetchedFile, TOTAL_TIMEOUT_MS } from './download.ts';
import { type AttachmentRequest, knownSize, type RemoteSource } from './request/attachments.ts';
import { MAX_ATTACHMENT_BYTES } from './schemas.ts';
import type { StoredAttachment } from './show.ts';

/**
 * Loaded attachments. The caller disposes of them when the email is stored, which releases the memory budget of
 * fetched files.
 */
type LoadedAttachments = Disposable & { attachments: Attachment[] };

type Wanted = { requests: readonly AttachmentRequest[]; allowance: Allowance | undefined };

/**
 * Loads the attachments one after another, so that each file may use what the others leave of the limit and no more
 * memory is reserved.
 * @throws AppError validation_error naming the field; unavailable when too many downloads run
 */
export async function loadAttachments(
  app: Pick<App, 'clock'> & { downloads: Downloads },
  tenantId: ApiKeyRow['tenantId'],
  { requests, allowance }: Wanted,
): Promise<LoadedAttachments> {
  if (requests.length === 0) return NONE;
  await requireBase64(requests);
  const own = requests.reduce((rest, { source }) => rest - knownSize(source), MAX_ATTACHMENT_BYTES);
  const limit: Allowance = { until: app.clock.elapsed() + TOTAL_TIMEOUT_MS, leftBytes: own };
  const attachments: Attachment[] = [];
  using files = new DisposableStack();
  for (const { source, filename, contentType, contentId, disposition } of requests) {
    let content: Attachment['content'];
    if (source.kind === 'base64') {
      content = source;
    } else {
      const file = files.use(await fetchFile(app, tenantId, { source, limits: [limit, allowance] }));
      content = { kind: 'bytes', bytes: file.bytes };
    }
    attachments.push({ filename, contentType, contentId, disposition, content });
  }
  const held = files.move();
  return { attachments, [Symbol.dispose]: () => held.dispose() };
}

const NONE: LoadedAttachments = { attachments: [], [Symbol.dispose]: () => {} };

async function requireBase64(requests: readonly AttachmentRequest[]): Promise<void> {
  for (const { at, source } of requests) {
    if (source.kind === 'base64' && !(await isBase64(source.ascii))) {
      const path = `${at}.content`;
      throw invalid(path, `\`${path}\` must be base64 with its padding and without line breaks`);
    }
  }
}

/** Fetches a file within all of the limits, and subtracts its size from each. */
async function fetchFile(
  app: Pick<App, 'clock'> & { downloads: Downloads },
  tenantId: ApiKeyRow['tenantId'],
  { source, limits }: { source: RemoteSource; limits: readonly (Allowance | undefined)[] },
): Promise<FetchedFile> {
  const { path, url } = source;
  const given = limits.filter((limit) => limit !== undefined);
  const maxBytes = Math.min(...given.map(({ leftBytes }) => leftBytes));
  const timeoutMs = Math.min(...given.map(({ until }) => until)) - app.clock.elapsed();
  if (maxBytes <= 0 || timeoutMs <= 0)
    throw invalid(
      path,
      `\`${path}\` was not fetched: the attachments before it used up the time or the memory for downloads`,
    );
  const file = await app.downloads.get({ tenantId, path, url: url.href, maxBytes, timeoutMs });
  for (const limit of given) limit.leftBytes -= file.bytes.length;
  return file;
}

/** Returns the description of an attachment that is stored with the email. The message holds the bytes. */
export function describeAttachment(attachment: Attachment, hasHtml: boolean): StoredAttachment {
  const { filename, contentType, contentId, content } = attachment;
  const sizeBytes = content.kind === 'base64' ? base64Size(content.ascii) : content.bytes.length;
  const disposition = attachment.disposition ?? placementOf(attachment, hasHtml);
  return { filename, contentType, contentId: contentId ?? null, disposition, sizeBytes };
}
