/** Metrics of the HTTP server, and the route that serves all metrics. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../../system/address-block.ts';
import { notFound } from '../../system/errors.ts';
import type { ByteBudget } from '../../system/guards/byte-budget.ts';
import type { Metrics } from '../../system/metrics.ts';
import type { ResponseBudgets } from './response-budget.ts';

/** `name` is the prefix of the metrics of memory; without one, there are none. */
type HeldBytes = { name: string | undefined; bodies: ByteBudget; responses: ResponseBudgets };

/** Counts and times the requests of every route that is registered afterwards. */
export function countRequests(
  server: FastifyInstance,
  metrics: Metrics,
  { name, bodies, responses }: HeldBytes,
): void {
  if (name !== undefined) showHeldBytes(metrics, { name, bodies, responses });
  server.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    metrics.httpRequests.inc({ method, route, status: reply.statusCode });
    metrics.httpDuration.observe({ method, route }, reply.elapsedTime / 1_000);
    done();
  });
}

function showHeldBytes(metrics: Metrics, { name, bodies, responses }: HeldBytes): void {
  metrics.gauge(
    `${name}_response_bytes_in_flight`,
    'Bytes of large responses that clients have not read yet.',
    () => responses.authenticated.usedBytes + responses.unauthenticated.usedBytes,
  );
  metrics.gauge(
    `${name}_body_bytes_in_flight`,
    'Bytes of request bodies, and of files fetched for them, held.',
    () => bodies.usedBytes,
  );
}

/**
 * Serves `GET /metrics`. With `local`, only connections from this machine that no proxy forwarded are answered, and
 * all others receive 404.
 */
export function serveMetrics(server: FastifyInstance, metrics: Metrics, peers: 'local' | 'all'): void {
  server.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    if (peers === 'local' && !isLocal(request)) throw notFound('Path');
    const { contentType, text } = await metrics.show();
    return reply.type(contentType).send(text);
  });
}

/**
 * Headers that reverse proxies add (RFC 7239, RFC 9110 section 7.6.3, and common use). With one of them, the
 * connection is the proxy's and not the client's.
 */
const FORWARDED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

function isLocal(request: FastifyRequest): boolean {
  if (FORWARDED.some((name) => request.headers[name] !== undefined)) return false;
  return isLoopback(request.raw.socket.remoteAddress ?? '');
}
