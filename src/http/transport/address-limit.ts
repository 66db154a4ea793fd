/**
 * Limits requests without a valid API key for each client address: anybody can send them, and they must not delay the
 * requests of known clients. Beyond the limit the answer is 429, and the connection ends with it, so that pipelined
 * requests behind it cost nothing.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../system/errors.ts';
import type { AddressLimit } from '../../system/guards/address-limit.ts';

/** Requests that exceeded the limit. */
const exceeded = new WeakSet<FastifyRequest>();

/**
 * Counts one request for its client's address.
 * @throws AppError rate_limited
 */
export function chargeAddress(limit: AddressLimit, request: FastifyRequest): void {
  const { allowed, retryAfterSeconds } = limit.take(request.clientAddress);
  if (allowed) return;
  exceeded.add(request);
  throw new AppError(
    'rate_limited',
    `Without a valid API key, an address may send at most ${limit.requestsPerSecond} requests per second`,
    { retryAfterSeconds },
  );
}

export type LimitOptions = {
  limit: AddressLimit;
  /** Returns true when the sender of the request is known, once `onRequest` has run. */
  isAuthenticated: (request: FastifyRequest) => boolean;
  onRefusal: () => void;
};

/**
 * Counts the requests of unknown senders before their bodies are read. A refused API key is counted where it is
 * refused.
 */
export function limitUnauthenticated(
  server: FastifyInstance,
  { limit, isAuthenticated, onRefusal }: LimitOptions,
): void {
  server.addHook('preParsing', (request, _reply, payload, done) => {
    try {
      if (!isAuthenticated(request)) chargeAddress(limit, request);
    } catch (error) {
      return done(error as Error);
    }
    done(null, payload);
  });
  server.addHook('onError', (request, _reply, _error, done) => {
    if (exceeded.has(request)) onRefusal();
    done();
  });
}

/** Ends the connection of a refused request that exceeded the limit. Returns true when it did. */
export function closeWhenExceeded(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!exceeded.has(request)) return false;
  reply.header('connection', 'close');
  return true;
}
