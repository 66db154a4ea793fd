/**
 * `Expect: 100-continue` (RFC 9110 section 10.1.1): the client sends its body only when asked to, so a refusal saves
 * the transfer. Node would ask for it at once; here the code that reads bodies does. After a response without that
 * request Node closes the connection, because the client may or may not send the body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Keeps Node from asking for bodies by itself. */
export function holdContinue(server: FastifyInstance): void {
  server.server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    server.server.emit('request', request, response);
  });
}

/** Returns true while the client waits to be asked for its body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/** Asks the client for its body, if it waits for that. */
export function letContinue(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
