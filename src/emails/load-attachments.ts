/** Attachments with their bytes at hand: what came in base64 is checked, and then what is elsewhere is fetched. */
import type { App } from '../app.ts';
import type { ApiKeyRow } from '../db/tables.ts';
import type { Attachment } from '../mail/message/compose.ts';
import { invalid } from '../system/errors.ts';
import { base64Size, isBase64 } from './base64.ts';
import { type Allowance, type Downloads, type FetchedFile, TOTAL_TIMEOUT_MS } from './download.ts';
import { type AttachmentRequest, knownSize, type RemoteSource } from './request/attachments.ts';
import { MAX_ATTACHMENT_BYTES } from './schemas.ts';
import type { StoredAttachment } from './show.ts';

/** To be disposed of when the email is stored: files that were fetched take room until then. */
export type LoadedAttachments = Disposable & { attachments: Attachment[] };

type Wanted = { requests: readonly AttachmentRequest[]; allowance: Allowance | undefined };

/**
 * One after another, so that each may take what the others leave of the limit and no more is held.
 * @throws AppError validation_error naming the field; unavailable
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
  for (const { source, filename, contentType, contentId } of requests) {
    let content: Attachment['content'];
    if (source.kind === 'base64') {
      content = source;
    } else {
      const file = files.use(await fetchFile(app, tenantId, { source, limits: [limit, allowance] }));
      content = { kind: 'bytes', bytes: file.bytes };
    }
    attachments.push({ filename, contentType, contentId, content });
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

/** Within all of the limits, from each of which it takes its bytes. */
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
      `\`${path}\` was not fetched: the files before it took all the time or room there is`,
    );
  const file = await app.downloads.get({ tenantId, path, url: url.href, maxBytes, timeoutMs });
  for (const limit of given) limit.leftBytes -= file.bytes.length;
  return file;
}

/** What is kept of one next to the message, which holds its bytes. */
export function describeAttachment({
  filename,
  contentType,
  contentId,
  content,
}: Attachment): StoredAttachment {
  const sizeBytes = content.kind === 'base64' ? base64Size(content.ascii) : content.bytes.length;
  return { filename, contentType, contentId: contentId ?? null, sizeBytes };
}
