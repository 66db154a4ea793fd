/**
 * Serves content that is the same for every caller. It is held in memory, sent from there, and named by an entity tag,
 * so that a caller who has it already is answered 304 (RFC 9110 section 13.1.2). Serving it opens no file.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type StaticContent = { bytes: Buffer; tag: string };

/** Returns the content with its entity tag. */
export function staticContent(bytes: Buffer): StaticContent {
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

/** Sends the content, or 304 when the client has it already. */
export function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, tag }: StaticContent,
): FastifyReply {
  reply.header('etag', tag);
  return request.headers['if-none-match'] === tag ? reply.code(304).send() : reply.send(bytes);
}

/**
 * Returns a function that reads at its first call. Concurrent calls wait for the same bytes; after a failure the next
 * call reads again.
 */
export function readOnce(read: () => Promise<Buffer>): () => Promise<StaticContent> {
  let content: Promise<StaticContent> | undefined;
  return () => {
    content ??= read()
      .then(staticContent)
      .catch((error: unknown) => {
        content = undefined;
        throw error;
      });
    return content;
  };
}
