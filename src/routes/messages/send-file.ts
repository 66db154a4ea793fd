/** Sends received messages and their files. A browser never shows them: their content comes from strangers. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { App } from '../../app.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { filenameParameters } from '../../mail/message/filename.ts';
import { type OpenFile, openContent } from './content.ts';

/** Sends a whole message. */
export async function sendRaw(
  reply: FastifyReply,
  { blobs }: Pick<App, 'blobs'>,
  message: ReceivedMessageRow,
): Promise<FastifyReply> {
  const { sizeBytes, stream } = await openRaw(blobs, message);
  return reply
    .type('message/rfc822')
    .header('content-length', sizeBytes)
    .header('content-disposition', `attachment; filename="${message.id}.eml"`)
    .headers(UNSHOWN)
    .send(stream);
}

/** Sends a file of a message. Its own media type is not repeated, so that no program shows it by mistake. */
export function sendFile(reply: FastifyReply, { filename, bytes }: OpenFile): FastifyReply {
  return reply
    .type('application/octet-stream')
    .header('content-disposition', `attachment; ${filenameParameters(filename).filename}`)
    .headers(UNSHOWN)
    .send(bytes);
}

const UNSHOWN = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
};

/**
 * Returns the whole message as it arrived, with the fields that were added before it.
 * @throws AppError invalid_state when its bytes are no longer kept
 */
async function openRaw(
  blobs: Pick<App['blobs'], 'open'>,
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
