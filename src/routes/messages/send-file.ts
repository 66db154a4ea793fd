/** Sends received messages and their files. A browser never shows them: their content comes from strangers. */
import type { FastifyReply } from 'fastify';
import type { App } from '../../app.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { sendFile, sendMessageFile } from '../../http/json/message-file.ts';
import { filenameParameters } from '../../mail/message/filename.ts';
import { type OpenFile, openContent } from './content.ts';

/**
 * Sends a whole message as it arrived, with the fields that were added before it.
 * @throws AppError invalid_state when its bytes are no longer kept
 */
export async function sendRaw(
  reply: FastifyReply,
  { blobs }: Pick<App, 'blobs'>,
  message: ReceivedMessageRow,
): Promise<FastifyReply> {
  const bytes = await openContent(blobs, message);
  const trace = Buffer.from(message.trace);
  const sizeBytes = trace.length + bytes.sizeBytes;
  return sendMessageFile(reply, { name: message.id, sizeBytes, chunks: withTrace(trace, bytes) });
}

/** Sends a file of a message. */
export function sendReceivedFile(reply: FastifyReply, { filename, bytes }: OpenFile): FastifyReply {
  return sendFile(reply, { disposition: `attachment; ${filenameParameters(filename).filename}`, bytes });
}

async function* withTrace(trace: Buffer, bytes: BlobContent): AsyncGenerator<Buffer> {
  yield trace;
  yield* bytes.chunks();
}
