/**
 * The HTTP server every API hangs on: JSON in, JSON out, strict schemas, a request id on every answer, one error
 * envelope, OpenAPI from the same schemas. It knows nothing of the product.
 */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import { Ajv, type AnySchema } from 'ajv';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Clock } from '../system/clock.ts';
import { AppError, errorCode, notFound } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { System } from '../system/system.ts';
import { excessOf } from './json-shape.ts';
import { rejectMethod } from './methods.ts';
import { rejectNearMisses } from './near-misses.ts';
import { sendProblem } from './problem.ts';

export type HttpServer = FastifyInstance;

/** Request bodies, bytes (api.md 1.2, text size). */
export const BODY_LIMIT_BYTES = 40 * 1024 * 1024;
/** Idle sockets and slow headers are cut (security.md 2.13). */
const CONNECTION_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_MS = 75_000;
const MOST_PARAM_CHARACTERS = 320;

export async function createHttpServer(
  system: Pick<System, 'clock' | 'log'>,
  info: { title: string; description: string; version: string },
): Promise<HttpServer> {
  const server = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    routerOptions: { maxParamLength: MOST_PARAM_CHARACTERS },
    genReqId: () => newId('req', system.clock.now()),
    forceCloseConnections: 'idle',
    clientErrorHandler: answerMalformed(system),
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendProblem(system.log, error, request, reply);
    },
  });
  endRequestsOnClose(server, system.clock);
  readJsonBodies(server);
  checkSchemas(server);
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  server.setErrorHandler((error, request, reply) => sendProblem(system.log, error, request, reply));
  requireBody(server);
  rejectNearMisses(server);
  rejectMethod(server, () => notFound('Path'));
  await server.register(swagger, { openapi: { openapi: '3.1.0', info } });
  return server;
}

/** What is not HTTP, or more of it than Node reads, never becomes a request; it is answered in the same envelope. */
function answerMalformed(system: Pick<System, 'clock'>) {
  return (error: Error, socket: Socket): void => {
    if (!socket.writable || errorCode(error) === 'ECONNRESET') return void socket.destroy();
    const tooLarge = errorCode(error) === 'HPE_HEADER_OVERFLOW';
    const requestId = newId('req', system.clock.now());
    const message = tooLarge ? 'The request head is too large' : 'The request is not valid HTTP';
    const body = JSON.stringify({ error: { type: 'validation_error', message, requestId } });
    socket.end(
      `HTTP/1.1 ${tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    );
  };
}

/** A request that drips in must not hold up the end of the daemon: what is not answered by then is cut. */
const CLOSE_GRACE_MS = 5_000;

function endRequestsOnClose(server: HttpServer, clock: Clock): void {
  server.addHook('preClose', async () => {
    clock.after(CLOSE_GRACE_MS, () => server.server.closeAllConnections());
  });
}

/**
 * `application/json` alone. An empty body with that type is no body: a DELETE by a client that always sends the header
 * is fine (decisions.md 13).
 */
function readJsonBodies(server: HttpServer): void {
  server.removeAllContentTypeParsers();
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined);
    // RFC 8259 8.1. Replacement characters would stand in the mail that is sent.
    if (!isUtf8(bytes)) return done(new AppError('validation_error', 'The body must be UTF-8'), undefined);
    const excess = excessOf(bytes);
    if (excess !== undefined)
      return done(new AppError('validation_error', `The body must not ${excess}`), undefined);
    void parse(request, bytes.toString(), done);
  });
}

/** Bodies are taken as they are; only query strings and paths, which are text by nature, are coerced. */
function checkSchemas(server: HttpServer): void {
  const options = { strict: false, allErrors: false, removeAdditional: false, useDefaults: true };
  const exact = new Ajv({ ...options, coerceTypes: false });
  const coercing = new Ajv({ ...options, coerceTypes: true });
  server.setValidatorCompiler<AnySchema>(({ schema, httpPart }) =>
    (httpPart === 'body' ? exact : coercing).compile(schema),
  );
}

/** An absent body deserves its own words rather than a schema's. */
function requireBody(server: HttpServer): void {
  server.addHook('preValidation', async (request) => {
    if (request.routeOptions.schema?.body && request.body === undefined) {
      throw new AppError('validation_error', 'A JSON body is required');
    }
  });
}
