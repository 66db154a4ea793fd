/**
 * `Expect: 100-continue` (RFC 9110 10.1.1): the client sends its body only once asked to, so a refusal spares it the way.
 * Node would ask at once; here the reader of bodies does. An answer that comes unasked ends the connection (Node sees to
 * it), because whether the body still comes is the client's choice.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

export function holdContinue(server: FastifyInstance): void {
  server.server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    server.server.emit('request', request, response);
  });
}

export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request);
}

export function letContinue(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
