/**
 * Answers 404 for unknown paths, and 405 with `Allow` for known paths with another method (RFC 9110 section 15.5.6).
 * Both come before a body is read, because the sender may have no API key.
 */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../system/errors.ts';

/** Installs the check. `notFound` makes the refusal for an unknown path. */
export function rejectMethod(server: FastifyInstance, notFound: () => AppError): void {
  const routes: { pattern: RegExp; method: string }[] = [];
  server.addHook('onRoute', (route) => {
    const pattern = new RegExp(`^${route.url.replace(/:[^/]+/g, '[^/]+')}$`);
    for (const method of [route.method].flat()) routes.push({ pattern, method });
  });
  // This hook runs after each `onRequest`, where a caller with a key is recognised and counted.
  server.addHook('preParsing', (request, reply, _payload, done) => {
    if (!request.is404) return done();
    const path = request.url.replace(/\?.*$/, '');
    const allowed = routes.filter((route) => route.pattern.test(path)).map((route) => route.method);
    if (allowed.length === 0) return done(notFound());
    reply.header('allow', [...new Set(allowed)].sort().join(', '));
    done(new AppError('method_not_allowed', `${request.method} is not allowed here`));
  });
}
