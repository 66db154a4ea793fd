/** Says of a request for a batch that one email that is refused refuses them all. No request under /v1 asks for it. */
import type { FastifyRequest } from 'fastify';

const strictField = Symbol('strict batch');

declare module 'fastify' {
  interface FastifyRequest {
    [strictField]?: boolean;
  }
}

/** Makes the batch of a request strict. */
export function makeStrictBatch(request: FastifyRequest): void {
  request[strictField] = true;
}

/** Returns true when the batch of a request is strict. */
export function isStrictBatch(request: FastifyRequest): boolean {
  return request[strictField] === true;
}
