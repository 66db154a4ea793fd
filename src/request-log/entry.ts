/** Describes an answered request for the log: who asked what, and what came of it. Neither bodies nor queries nor keys are part of it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import type { RequestLogRow } from '../db/api-tables.ts';
import { problemTypeOf } from '../http/json/problem.ts';
import type { Id } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';

/** Maximum length of a path that is kept. The longest path of a route has two ids. */
const MAX_PATH_CHARACTERS = 512;

/** Returns the function that describes requests. */
export function createDescription({ keys }: Pick<Config, 'keys'>) {
  const hideKeys = hiding([keys.livePrefix, keys.testPrefix]);
  return (
    { tenantId, mode, keyId }: Caller & { keyId: RequestLogRow['keyId'] },
    request: FastifyRequest,
    reply: FastifyReply,
  ): RequestLogRow => ({
    tenantId,
    mode,
    // Request ids are made by the server (http/transport/server.ts).
    id: request.id as Id<'req'>,
    keyId,
    method: request.method,
    route: request.is404 ? null : (request.routeOptions.url ?? null),
    path: hideKeys(pathOf(request.url)),
    status: reply.statusCode,
    errorType: problemTypeOf(reply) ?? null,
    durationMs: Math.round(reply.elapsedTime),
    requestBytes: lengthOf(request.headers['content-length']),
    responseBytes: lengthOf(reply.getHeader('content-length')),
    address: request.clientAddress,
  });
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return url.slice(0, Math.min(end < 0 ? url.length : end, MAX_PATH_CHARACTERS));
}

/** Returns the function that shortens API keys to their prefix: somebody may put one into a path by mistake. */
function hiding(prefixes: readonly string[]): (path: string) => string {
  // The configuration allows only letters, digits and underscores in a prefix.
  const key = new RegExp(`(${prefixes.join('|')})[^/]+`, 'g');
  return (path) => path.replace(key, '$1…');
}

function lengthOf(header: unknown): number | null {
  if (header === undefined) return null;
  const length = Number(header);
  return Number.isSafeInteger(length) && length >= 0 ? length : null;
}
