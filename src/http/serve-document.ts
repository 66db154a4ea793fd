/** The OpenAPI document over HTTP: made when first asked for, and kept as the bytes that are sent. */
import type { FastifyInstance } from 'fastify';
import { type StaticContent, sendStatic, staticContent } from './static-content.ts';

/** A new version of the daemon is a new document. */
const MAX_AGE_SECONDS = 300;

export function serveDocument(server: FastifyInstance, path: string): void {
  let made: StaticContent | undefined;
  server.get(path, { schema: { hide: true } }, async (request, reply) => {
    made ??= staticContent(Buffer.from(JSON.stringify(server.openApi())));
    reply.headers({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
    });
    return sendStatic(request, reply, made);
  });
}
