/**
 * The HTTP server every API hangs on: JSON in, JSON out, strict schemas, a request id on every answer, one error
 * envelope, OpenAPI from the same schemas. It knows nothing of the product.
 */
import swagger from '@fastify/swagger';
import { Ajv, type AnySchema } from 'ajv';
import Fastify, { type FastifyInstance } from 'fastify';
import { AppError, notFound } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { System } from '../system/system.ts';
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
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendProblem(system.log, error, request, reply);
    },
  });
  readJsonBodies(server);
  checkSchemas(server);
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  server.setErrorHandler((error, request, reply) => sendProblem(system.log, error, request, reply));
  rejectNearMisses(server);
  rejectMethod(server, () => notFound('Path'));
  await server.register(swagger, { openapi: { openapi: '3.1.0', info } });
  return server;
}

/**
 * `application/json` alone. An empty body with that type is no body: a DELETE by a client that always sends the header
 * is fine (decisions.md 13).
 */
function readJsonBodies(server: HttpServer): void {
  server.removeAllContentTypeParsers();
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parse(request, body, done);
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

/** Bodies are objects; an absent one deserves its own words rather than a schema's. */
export function requireBody(body: unknown): void {
  if (body === undefined) throw new AppError('validation_error', 'A JSON body is required');
}
