/** Serves the OpenAPI document. It is made at the first request and kept as the bytes that are sent. */
import type { FastifyInstance } from 'fastify';
import { type StaticContent, sendStatic, staticContent } from '../transport/static-content.ts';

/** Time for which clients may cache the document. It changes with the version of the daemon. */
const MAX_AGE_SECONDS = 300;

/** Serves the document at `path`. */
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
