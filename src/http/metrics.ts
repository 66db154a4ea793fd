/** Metrics of the HTTP server, and the door at which all of them are read. */
import { BlockList } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from '../system/errors.ts';
import type { Metrics } from '../system/metrics.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ResponseBudgets } from './response-budget.ts';

export type HeldBytes = { bodies: ByteBudget; responses: ResponseBudgets };

export function countRequests(
  server: FastifyInstance,
  metrics: Metrics,
  { bodies, responses }: HeldBytes,
): void {
  metrics.gauge(
    'http_response_bytes_in_flight',
    'Bytes of large responses that clients have not read yet.',
    () => responses.authenticated.usedBytes + responses.unauthenticated.usedBytes,
  );
  metrics.gauge(
    'http_body_bytes_in_flight',
    'Bytes of request bodies, and of files fetched for them, held.',
    () => bodies.usedBytes,
  );
  server.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    metrics.httpRequests.inc({ method, route, status: reply.statusCode });
    metrics.httpDuration.observe({ method, route }, reply.elapsedTime / 1_000);
    done();
  });
}

/**
 * `GET /metrics`. For `local` peers only it is there for connections from this machine that no proxy passed on, and for
 * everybody else not at all.
 */
export function serveMetrics(server: FastifyInstance, metrics: Metrics, peers: 'local' | 'all'): void {
  server.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    if (peers === 'local' && !isLocal(request)) throw notFound('Path');
    const { contentType, text } = await metrics.show();
    return reply.type(contentType).send(text);
  });
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** What a reverse proxy adds (RFC 7239, RFC 9110 7.6.3, and common use): the connection is its own, the asker's is not. */
const FORWARDED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

function isLocal(request: FastifyRequest): boolean {
  const { remoteAddress = '', remoteFamily } = request.raw.socket;
  if (FORWARDED.some((name) => request.headers[name] !== undefined)) return false;
  return loopback.check(remoteAddress, remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4');
}
