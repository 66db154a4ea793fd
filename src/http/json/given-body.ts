/**
 * The body of a request as its client has sent it, for requests whose body was translated before its schema was checked. Two requests are
 * the same when these bodies are: a translation may depend on the time, as that of "in 10 minutes" does.
 */
import type { FastifyRequest } from 'fastify';

const givenField = Symbol('given body');

declare module 'fastify' {
  interface FastifyRequest {
    [givenField]?: { body: unknown };
  }
}

/** Replaces the body of a request, and remembers the one that was given. */
export function replaceBody(request: FastifyRequest, body: unknown): void {
  request[givenField] ??= { body: request.body };
  request.body = body;
}

/** Returns the body that the client has sent. */
export function givenBodyOf(request: FastifyRequest): unknown {
  return request[givenField] ? request[givenField].body : request.body;
}
