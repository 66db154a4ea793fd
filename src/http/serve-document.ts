/** The OpenAPI document over HTTP: made when first asked for, and kept as the bytes that are sent. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

/** A new version of the daemon is a new document. */
const MOST_AGE_SECONDS = 300;

export function serveDocument(server: FastifyInstance, path: string): void {
  let made: { bytes: Buffer; tag: string } | undefined;
  server.get(path, { schema: { hide: true } }, async (request, reply) => {
    made ??= make(server);
    const { bytes, tag } = made;
    reply.headers({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': `public, max-age=${MOST_AGE_SECONDS}`,
      etag: tag,
    });
    // RFC 9110 13.1.2: what the caller has already.
    return request.headers['if-none-match'] === tag ? reply.code(304).send() : reply.send(bytes);
  });
}

function make(server: FastifyInstance): { bytes: Buffer; tag: string } {
  const bytes = Buffer.from(JSON.stringify(server.openApi()));
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}
