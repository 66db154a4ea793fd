/** Reads what a report about a message returns of it: the header, or the whole message. */
import type { App } from '../app.ts';
import { DamagedBlobError } from '../blobs/damaged.ts';
import type { MessageRow } from '../db/tables.ts';
import { wantsWholeMessage } from '../mail/smtp/dsn-parameters.ts';

/**
 * Maximum size of a message that a report returns whole. Its writer has it in any case, and knows a larger one by its header (RFC 3461
 * section 6.2 leaves the size to the server; Postfix returns at most 50 KB).
 */
const MAX_RETURNED_MESSAGE_BYTES = 256 * 1024;

/**
 * Returns the message that a report of a failure returns whole, because its sender has asked for that; undefined otherwise. The content of
 * a message with REQUIRETLS never goes into a report (RFC 8689 section 5).
 */
export async function readWantedMessage(
  app: Pick<App, 'blobs'>,
  { blobId, dsn, requireTls }: Pick<MessageRow, 'blobId' | 'dsn' | 'requireTls'>,
): Promise<Buffer | undefined> {
  if (blobId === null || requireTls === 1 || !wantsWholeMessage(dsn)) return undefined;
  try {
    const content = await app.blobs.open(blobId);
    if (content.sizeBytes > MAX_RETURNED_MESSAGE_BYTES) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of content.chunks()) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    if (!(error instanceof DamagedBlobError)) throw error;
    return undefined;
  }
}
