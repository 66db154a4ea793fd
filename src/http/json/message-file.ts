/** Sends files to be saved, such as whole messages. A browser never shows them: their content may come from strangers. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';

/** Header fields with which no browser shows a response or runs anything in it. */
const UNSHOWN = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
};

type MessageFile = {
  /** Name of the file without its extension: an id, which needs no quoting. */
  name: string;
  sizeBytes: number;
  chunks: AsyncIterable<Uint8Array>;
};

/** Sends a whole message as a file. */
export function sendMessageFile(reply: FastifyReply, { name, sizeBytes, chunks }: MessageFile): FastifyReply {
  return reply
    .type('message/rfc822')
    .header('content-length', sizeBytes)
    .header('content-disposition', `attachment; filename="${name}.eml"`)
    .headers(UNSHOWN)
    .send(Readable.from(chunks));
}

/** Sends the bytes of a file of a message. Its own media type is not repeated, so that no program shows it by mistake. */
export function sendFile(
  reply: FastifyReply,
  { disposition, bytes }: { disposition: string; bytes: Buffer },
): FastifyReply {
  return reply
    .type('application/octet-stream')
    .header('content-disposition', disposition)
    .headers(UNSHOWN)
    .send(bytes);
}

/** Returns the schema of a response that is a file. */
export function binaryAnswer(type: string, description: string) {
  return { description, content: { [type]: { schema: Type.Unsafe({ type: 'string', format: 'binary' }) } } };
}
