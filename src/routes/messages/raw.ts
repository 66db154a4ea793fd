/** Opens the bytes of received messages. */
import { Readable } from 'node:stream';
import type { App } from '../../app.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { AppError } from '../../system/errors.ts';

type Blobs = Pick<App['blobs'], 'open'>;

/**
 * Returns the message as it is stored, without the fields that were added.
 * @throws AppError invalid_state when its bytes are no longer kept
 */
export async function openContent(
  blobs: Blobs,
  { blobId }: Pick<ReceivedMessageRow, 'blobId'>,
): Promise<BlobContent> {
  if (blobId === null) throw new AppError('invalid_state', 'The content of the message is no longer kept');
  return blobs.open(blobId);
}

/**
 * Returns the whole message as it arrived, with the fields that were added before it.
 * @throws AppError invalid_state when its bytes are no longer kept
 */
export async function openRaw(
  blobs: Blobs,
  message: Pick<ReceivedMessageRow, 'blobId' | 'trace'>,
): Promise<{ sizeBytes: number; stream: Readable }> {
  const bytes = await openContent(blobs, message);
  const trace = Buffer.from(message.trace);
  return { sizeBytes: trace.length + bytes.sizeBytes, stream: Readable.from(withTrace(trace, bytes)) };
}

async function* withTrace(trace: Buffer, bytes: BlobContent): AsyncGenerator<Buffer> {
  yield trace;
  yield* bytes.chunks();
}
