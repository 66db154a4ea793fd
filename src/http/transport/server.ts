/**
 * The common part of every HTTP app, whatever it serves: limits of time and size, memory for bodies and responses, a
 * request id on every response, metrics, and an orderly end. It knows neither JSON nor HTML; the app says how an error
 * is sent and registers the parsers of its bodies.
 */

import type { Server } from 'node:http';
import { isIP } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { hasZone, plainAddress } from '../../system/address-block.ts';
import type { Clock } from '../../system/clock.ts';
import { AppError, notFound } from '../../system/errors.ts';
import { type ByteBudget, createByteBudget } from '../../system/guards/byte-budget.ts';
import { newId } from '../../system/ids.ts';
import type { Metrics } from '../../system/metrics.ts';
import { closeWhenExceeded, type LimitOptions, limitUnauthenticated } from './address-limit.ts';
import { discardBody, holdBodies } from './body.ts';
import { holdContinue } from './expect-continue.ts';
import { byHostName, type HostedApp } from './host-names.ts';
import { answerMalformed, refuseExpectations, requireHost } from './malformed.ts';
import { countRequests } from './metrics.ts';
import { refuseMisdirected } from './misdirected.ts';
import { createPipelineServer } from './pipeline.ts';
import {
  createResponseBudgets,
  holdResponses,
  MAX_STALL_MS,
  type ResponseBudgets,
} from './response-budget.ts';

export type HttpServer = FastifyInstance;

/** Time limits of connections and requests. Idle sockets and slow headers are closed. */
const CONNECTION_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_MS = 75_000;
/**
 * Maximum length of a path parameter. An email address, which names some resources, has up to 320 characters (RFC 5321
 * section 4.5.3.1: 64 and 255 octets, and the @ between them). The token of a public page contains an address.
 */
const MAX_PARAM_CHARACTERS = 512;

export type HttpOptions = {
  /** Apps that are served instead of this one for host names of their own. */
  hosted?: readonly HostedApp[];
  /** Counts requests, and shows the bytes of bodies in flight. */
  metrics?: Metrics;
  /** Memory for bodies. Each app has its own. */
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

/** Choices that each kind of app makes for itself. */
type AppKind = {
  /** Prefix of the metrics of its memory; without one, it has none. */
  name?: string;
  maxBodyBytes: number;
  /** True when the case of letters in paths does not matter. */
  ignoresCase?: boolean;
  /** Sends an error as a response. */
  sendError(error: unknown, reply: FastifyReply): FastifyReply;
};

/** Creates a server without parsers and routes, which does not listen yet. */
export function createTransport(
  { clock }: { clock: Clock },
  { name, maxBodyBytes, ignoresCase = false, sendError }: AppKind,
  {
    metrics,
    bodies = createByteBudget(),
    holderOf = ({ clientAddress }) => clientAddress,
    trustedProxies = [],
    unauthenticated,
    responses = createResponseBudgets(),
    stallMs = MAX_STALL_MS,
    hosted = [],
  }: HttpOptions,
): HttpServer {
  const server = Fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    routerOptions: { maxParamLength: MAX_PARAM_CHARACTERS, caseSensitive: !ignoresCase },
    genReqId: () => newId('req', clock.now()),
    forceCloseConnections: 'idle',
    // Fastify's own answer while it closes has neither our envelope nor Retry-After.
    return503OnClosing: false,
    serverFactory: (handle) => listener(clock, refuseMisdirected(clock, byHostName(hosted, handle))),
    clientErrorHandler: answerMalformed(clock),
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      sendError(error, reply);
    },
  });
  for (const { app } of hosted) {
    server.addHook('onReady', async () => void (await app.ready()));
    server.addHook('preClose', () => app.close());
  }
  readClientAddresses(server, trustedProxies);
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done(requireHost(request));
  });
  endRequestsOnClose(server, clock);
  refuseExpectations(server, clock);
  if (metrics) countRequests(server, metrics, { name, bodies, responses });
  if (unauthenticated) {
    const onRefusal = () => metrics?.shedRequests.inc({ reason: 'unauthenticated' });
    limitUnauthenticated(server, { ...unauthenticated, onRefusal });
  }
  rejectMethod(server, () => notFound('Path'));
  holdContinue(server);
  holdBodies(server, {
    budget: bodies,
    holderOf,
    clock,
    onRefusal: () => metrics?.shedRequests.inc({ reason: 'bodies' }),
  });
  holdResponses(server, {
    openReservation(request, payer) {
      const isKnown = payer !== undefined || (unauthenticated?.isAuthenticated(request) ?? true);
      const budget = isKnown ? responses.authenticated : responses.unauthenticated;
      return budget.open(payer ?? holderOf(request));
    },
    onRefusal: () => metrics?.shedRequests.inc({ reason: 'responses' }),
    stallMs,
  });
  server.setErrorHandler((error, request, reply) => {
    if (!closeWhenExceeded(request, reply)) discardBody(request, reply);
    return sendError(error, reply);
  });
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
export const CLOSE_GRACE_MS = 5_000;

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

/**
 * Answers 404 for unknown paths, and 405 with `Allow` for known paths with another method (RFC 9110 section 15.5.6).
 * Both come before a body is read, because the sender may have no API key. `notFound` makes the refusal for an unknown
 * path.
 */
function rejectMethod(server: FastifyInstance, notFound: () => AppError): void {
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

declare module 'fastify' {
  interface FastifyRequest {
    /** IP address of the client, `UNKNOWN_ADDRESS`, or an empty text for a UNIX socket. */
    readonly clientAddress: string;
  }
}

/** Stands for a client that its proxy named by something other than an IP address. No allowed address equals it. */
const UNKNOWN_ADDRESS = 'unknown';

/**
 * Gives every request of the server its `clientAddress`. `trustedProxies` are exact IP addresses. The client address is the address of the connection's peer. Behind a proxy the peer is the proxy, and
 * `X-Forwarded-For`, a header that anybody can write, names the client. The header is read only when the peer is a
 * configured proxy, and only as far as configured proxies have written it. No other forwarding header is read.
 */
function readClientAddresses(server: FastifyInstance, trustedProxies: readonly string[]): void {
  const trusted = new Set(trustedProxies.map(plainAddress));
  server.decorateRequest('clientAddress', {
    getter() {
      const peer = this.raw.socket.remoteAddress ?? '';
      if (trusted.size === 0 || !trusted.has(plainAddress(peer))) return peer;
      return readForwardedFor(this.headers['x-forwarded-for'], trusted) ?? peer;
    },
  });
}

/**
 * Finds the client in the header. Each proxy appends its peer, so the list is read from its end. The first entry that
 * is not a trusted proxy is the client; the client itself has written everything before it.
 */
function readForwardedFor(
  header: string | string[] | undefined,
  trusted: ReadonlySet<string>,
): string | undefined {
  const entries = [header ?? []].flat().join(',').split(',');
  let address: string | undefined;
  for (const entry of entries.reverse()) {
    const text = entry.trim();
    if (text === '') continue;
    if (isIP(text) === 0 || hasZone(text)) return UNKNOWN_ADDRESS;
    address = plainAddress(text);
    if (!trusted.has(address)) return address;
  }
  return address;
}
