/**
 * The HTTP server every API hangs on: JSON in, JSON out, strict schemas, a request id on every answer, one error
 * envelope, OpenAPI from the same schemas. It knows nothing of the product.
 */
import type { Socket } from 'node:net';
import swagger from '@fastify/swagger';
import { Ajv, type AnySchema } from 'ajv';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Clock } from '../system/clock.ts';
import { AppError, type ErrorCode, errorCode, notFound } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { Metrics } from '../system/metrics.ts';
import type { System } from '../system/system.ts';
import { discardBody, holdBodies } from './body.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import { holdContinue } from './expect-continue.ts';
import { readJsonBodies } from './json-body.ts';
import { rejectMethod } from './methods.ts';
import { countRequests } from './metrics.ts';
import { rejectNearMisses } from './near-misses.ts';
import { sendProblem } from './problem.ts';

export type HttpServer = FastifyInstance;

/** A template with 1 MB each of HTML and text (api.md, size limits), and room for their escapes. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
/** An email with its attachments (api.md 1.2, text size). */
export const ATTACHMENTS_BODY_LIMIT_BYTES = 40 * 1024 * 1024;
/** Idle sockets and slow headers are cut (security.md 2.13). */
const CONNECTION_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_MS = 75_000;
const MOST_PARAM_CHARACTERS = 320;

export type HttpOptions = {
  /** Counts requests, and shows the bytes of bodies in flight. */
  metrics?: Metrics;
  /** Room for bodies; servers of one process may share it. */
  bodies?: ByteBudget;
  /** Whose share of that room a body counts to; by default its peer's. */
  holderOf?: (request: FastifyRequest) => string;
};

export async function createHttpServer(
  system: Pick<System, 'clock' | 'log'>,
  info: { title: string; description: string; version: string },
  { metrics, bodies = createByteBudget(), holderOf = ({ ip }) => ip }: HttpOptions = {},
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
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  if (metrics) countRequests(server, metrics, bodies);
  holdContinue(server);
  limitBodies(server);
  holdBodies(server, {
    ...{ budget: bodies, holderOf, clock: system.clock },
    onRefusal: () => metrics?.shedRequests.inc({ reason: 'bodies' }),
  });
  readJsonBodies(server);
  checkSchemas(server);
  server.setErrorHandler((error, request, reply) => {
    discardBody(request, reply);
    return sendProblem(system.log, error, request, reply);
  });
  requireBody(server);
  rejectNearMisses(server);
  rejectMethod(server, () => notFound('Path'));
  await server.register(swagger, { openapi: { openapi: '3.1.0', info } });
  return server;
}

/**
 * What is not HTTP, or more of it than Node reads, or does not come to its end, never becomes a request; it is answered in
 * the same envelope.
 */
function answerMalformed(system: Pick<System, 'clock'>) {
  return (error: Error, socket: Socket): void => {
    if (!socket.writable || errorCode(error) === 'ECONNRESET') return void socket.destroy();
    const { status, type, message } = describeMalformed(error);
    const requestId = newId('req', system.clock.now());
    const body = JSON.stringify({ error: { type, message, requestId } });
    socket.end(
      `HTTP/1.1 ${status}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    );
  };
}

type Malformed = { status: string; type: ErrorCode; message: string };

function describeMalformed(error: Error): Malformed {
  const type = 'validation_error';
  switch (errorCode(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: '431 Request Header Fields Too Large',
        type,
        message: 'The request head is too large',
      };
    // RFC 9110 15.5.9: the same request may be sent again, which a 400 would deny.
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const message = 'The request took too long to arrive';
      return { status: '408 Request Timeout', type: 'request_timeout', message };
    }
    default:
      return { status: '400 Bad Request', type, message: 'The request is not valid HTTP' };
  }
}

/** A request that drips in must not hold up the end of the daemon: what is not answered by then is cut. */
const CLOSE_GRACE_MS = 5_000;

function endRequestsOnClose(server: HttpServer, clock: Clock): void {
  server.addHook('preClose', async () => {
    clock.after(CLOSE_GRACE_MS, () => server.server.closeAllConnections());
  });
}

/** Routes that take attachments take longer bodies, unless they say how long. */
function limitBodies(server: HttpServer): void {
  server.addHook('onRoute', (route) => {
    if (route.config?.detachesContent) route.bodyLimit ??= ATTACHMENTS_BODY_LIMIT_BYTES;
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
