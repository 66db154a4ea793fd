/** Attachments with their bytes at hand: what came in base64 is checked, and then what is elsewhere is fetched. */
import type { App } from '../app.ts';
import type { ApiKeyRow } from '../db/tables.ts';
import type { Attachment } from '../mail/message/compose.ts';
import { invalid } from '../system/errors.ts';
import { base64Size, isBase64 } from './base64.ts';
import { type Downloads, TOTAL_TIMEOUT_MS } from './download.ts';
import { type AttachmentRequest, knownSize } from './request/attachments.ts';
import { MOST_ATTACHMENT_BYTES } from './schemas.ts';
import type { StoredAttachment } from './show.ts';

/** To be disposed of when the email is stored: files that were fetched take room until then. */
export type LoadedAttachments = Disposable & { attachments: Attachment[] };

/**
 * One after another, so that each may take what the others leave of the limit and no more is held.
 * @throws AppError validation_error naming the field; unavailable
 */
export async function loadAttachments(
  app: Pick<App, 'clock'> & { downloads: Downloads },
  tenantId: ApiKeyRow['tenantId'],
  requests: readonly AttachmentRequest[],
): Promise<LoadedAttachments> {
  for (const { at, source } of requests) {
    if (source.kind === 'base64' && !(await isBase64(source.ascii))) {
      const path = `${at}.content`;
      throw invalid(path, `\`${path}\` must be base64 with its padding and without line breaks`);
    }
  }
  let maxBytes = requests.reduce((rest, { source }) => rest - knownSize(source), MOST_ATTACHMENT_BYTES);
  const deadline = app.clock.elapsed() + TOTAL_TIMEOUT_MS;
  const attachments: Attachment[] = [];
  using files = new DisposableStack();
  for (const { source, filename, contentType, contentId } of requests) {
    let content: Attachment['content'];
    if (source.kind === 'base64') {
      content = source;
    } else {
      const { path, url } = source;
      const timeoutMs = deadline - app.clock.elapsed();
      const file = await app.downloads.get({ tenantId, path, url: url.href, maxBytes, timeoutMs });
      const { bytes } = files.use(file);
      maxBytes -= bytes.length;
      content = { kind: 'bytes', bytes };
    }
    attachments.push({ filename, contentType, contentId, content });
  }
  const held = files.move();
  return { attachments, [Symbol.dispose]: () => held.dispose() };
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
