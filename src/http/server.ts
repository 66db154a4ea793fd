/**
 * The HTTP server of every API: JSON requests and responses, strict schemas, a request id on every response, one
 * error envelope, and OpenAPI from the same schemas. It knows nothing about the product.
 */
import type { Server } from 'node:http';
import fastJson, { type AnySchema as AnswerSchema } from 'fast-json-stringify';
import Fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifySchema,
  type preValidationHookHandler,
  type RouteOptions,
} from 'fastify';
import type { Clock } from '../system/clock.ts';
import { AppError, invalid, notFound } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { Metrics } from '../system/metrics.ts';
import type { System } from '../system/system.ts';
import { closeWhenExceeded, type LimitOptions, limitUnauthenticated } from './address-limit.ts';
import { discardBody, holdBodies } from './body.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import { readClientAddresses } from './client-address.ts';
import { readCsvBodies } from './csv-body.ts';
import { holdContinue } from './expect-continue.ts';
import { refuseFields } from './field-refusals.ts';
import { readJsonBodies } from './json-body.ts';
import { answerMalformed, refuseExpectations, requireHost } from './malformed.ts';
import { rejectMethod } from './methods.ts';
import { countRequests } from './metrics.ts';
import { propertiesOf, rejectNearMisses } from './near-misses.ts';
import { type ApiDescription, describeRoutes } from './openapi.ts';
import { createPipelineServer } from './pipeline.ts';
import { sendProblem } from './problem.ts';
import {
  createResponseBudgets,
  holdResponses,
  MAX_STALL_MS,
  type ResponseBudgets,
} from './response-budget.ts';
import { checkSchemas } from './validators.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when a request without a body counts as one with an empty object. */
    bodyOptional?: boolean;
  }
}

export type HttpServer = FastifyInstance;

/** Maximum size of a body: a template with 1 MB each of HTML and text (api.md, size limits), and their escapes. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum size of a body with attachments (api.md 1.2, text size). */
export const MAX_ATTACHMENTS_BODY_BYTES = 40 * 1024 * 1024;
/** Time limits of connections and requests. Idle sockets and slow headers are closed (security.md 2.13). */
const CONNECTION_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_MS = 75_000;
/**
 * Maximum length of a path parameter. The longest is an email address, which names some resources (RFC 5321 section
 * 4.5.3.1: 64 and 255 octets, and the @ between them).
 */
const MAX_PARAM_CHARACTERS = 320;

export type HttpOptions = {
  /** Counts requests, and shows the bytes of bodies in flight. */
  metrics?: Metrics;
  /** Memory for bodies. Several servers of one process may share it. */
  bodies?: ByteBudget;
  /** Returns the holder whose shares a body and a response count to; by default the address of the client. */
  holderOf?: (request: FastifyRequest) => string;
  /** Memory for responses. */
  responses?: ResponseBudgets;
  /** Time without progress after which a connection is closed, in milliseconds. */
  stallMs?: number;
  /** Limits requests of unknown senders; without it they are not limited. */
  unauthenticated?: Omit<LimitOptions, 'onRefusal'>;
  /** Exact addresses of proxies whose `X-Forwarded-For` names the client; none by default. */
  trustedProxies?: readonly string[];
};

/** Creates a server, which does not listen yet. Routes are registered on it afterwards. */
export async function createHttpServer(
  system: Pick<System, 'clock' | 'log'>,
  about: ApiDescription,
  {
    metrics,
    bodies = createByteBudget(),
    holderOf = ({ clientAddress }) => clientAddress,
    trustedProxies = [],
    unauthenticated,
    responses = createResponseBudgets(),
    stallMs = MAX_STALL_MS,
  }: HttpOptions = {},
): Promise<HttpServer> {
  const server = Fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_CHARACTERS },
    genReqId: () => newId('req', system.clock.now()),
    forceCloseConnections: 'idle',
    // Fastify's own answer while it closes has neither our envelope nor Retry-After.
    return503OnClosing: false,
    serverFactory: (handle) => listener(system.clock, handle),
    clientErrorHandler: answerMalformed(system.clock),
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendProblem(system.log, error, request, reply);
    },
  });
  readClientAddresses(server, trustedProxies);
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done(requireHost(request));
  });
  endRequestsOnClose(server, system.clock);
  refuseExpectations(server, system.clock);
  if (metrics) countRequests(server, metrics, { bodies, responses });
  if (unauthenticated) {
    const onRefusal = () => metrics?.shedRequests.inc({ reason: 'unauthenticated' });
    limitUnauthenticated(server, { ...unauthenticated, onRefusal });
  }
  rejectMethod(server, () => notFound('Path'));
  holdContinue(server);
  limitBodies(server);
  holdBodies(server, {
    budget: bodies,
    holderOf,
    clock: system.clock,
    onRefusal: () => metrics?.shedRequests.inc({ reason: 'bodies' }),
  });
  holdResponses(server, {
    openReservation(request) {
      const isKnown = unauthenticated?.isAuthenticated(request) ?? true;
      return (isKnown ? responses.authenticated : responses.unauthenticated).open(holderOf(request));
    },
    onRefusal: () => metrics?.shedRequests.inc({ reason: 'responses' }),
    stallMs,
  });
  readJsonBodies(server);
  readCsvBodies(server);
  checkSchemas(server);
  writeAnswers(server);
  server.setErrorHandler((error, request, reply) => {
    if (!closeWhenExceeded(request, reply)) discardBody(request, reply);
    return sendProblem(system.log, error, request, reply);
  });
  refuseFields(server);
  checkBeforeSchema(server);
  describeRoutes(server, about);
  return server;
}

function listener(clock: Clock, handle: Parameters<typeof createPipelineServer>[2]): Server {
  const server = createPipelineServer(clock, { requireHostHeader: false }, handle);
  server.setTimeout(CONNECTION_TIMEOUT_MS);
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

/**
 * Time after which unfinished requests are cut off when the daemon stops, so that a slow request does not delay its
 * end.
 */
const CLOSE_GRACE_MS = 5_000;

/** Time to retry after. A restart takes seconds. */
const CLOSING_RETRY_AFTER_SECONDS = 5;

function endRequestsOnClose(server: HttpServer, clock: Clock): void {
  let isClosing = false;
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done(null, payload);
  });
  server.addHook('onRequest', (_request, _reply, done) => {
    if (!isClosing) return done();
    const retryAfterSeconds = CLOSING_RETRY_AFTER_SECONDS;
    done(new AppError('unavailable', 'The daemon is stopping; try again shortly', { retryAfterSeconds }));
  });
  server.addHook('preClose', async () => {
    isClosing = true;
    clock.after(CLOSE_GRACE_MS, () => server.server.closeAllConnections());
  });
}

/** Allows larger bodies on routes that accept attachments, unless they set a limit of their own. */
function limitBodies(server: HttpServer): void {
  server.addHook('onRoute', (route) => {
    if (route.config?.detachesContent) route.bodyLimit ??= MAX_ATTACHMENTS_BODY_BYTES;
  });
}

/** Compiles the serialisers of responses at their first use, with the same library that Fastify uses. */
function writeAnswers(server: HttpServer): void {
  server.setSerializerCompiler<AnswerSchema>(({ schema }) => {
    let write: ((value: unknown) => string) | undefined;
    return (value) => {
      write ??= fastJson(schema);
      return write(value);
    };
  });
}

/**
 * Adds the checks whose messages are clearer than those of a schema. They run before the hooks of the route itself.
 */
function checkBeforeSchema(server: HttpServer): void {
  server.addHook('onRoute', (route) => {
    const { schema = {}, config } = route;
    const hooks = [rejectNearMisses(schema)];
    if (schema.body) hooks.unshift(requireBody(schema.body, config));
    if (schema.querystring) hooks.push(rejectRepetition(schema));
    route.preValidation = [...hooks, ...[route.preValidation ?? []].flat()];
  });
}

function requireBody(body: object, config: RouteOptions['config'] = {}): preValidationHookHandler {
  const type = config.takesCsv ? 'CSV' : 'JSON';
  return (request, _reply, done) => {
    if (request.body !== undefined) return done();
    if (!config.bodyOptional)
      return done(new AppError('validation_error', `A ${type} body is required${withField(body)}`));
    request.body = {};
    done();
  };
}

/** Names the field when the body has only one required field, so that the caller need not look it up. */
function withField(schema: object): string {
  const [field, ...others] = 'required' in schema && Array.isArray(schema.required) ? schema.required : [];
  return field !== undefined && others.length === 0 ? `, with \`${field}\`` : '';
}

/** Refuses a parameter that occurs twice, such as `?limit=1&limit=2`, because its meaning is ambiguous. */
function rejectRepetition({ querystring }: FastifySchema): preValidationHookHandler {
  const known = propertiesOf(querystring) ?? [];
  return ({ query }, _reply, done) => {
    const given = query as Readonly<Record<string, unknown>>;
    const repeated = known.find((name) => Array.isArray(given[name]));
    done(repeated === undefined ? undefined : invalid(repeated, `\`${repeated}\` may be given only once`));
  };
}
