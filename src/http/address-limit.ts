/**
 * Limits requests without a valid API key for each client address: anybody can send them, and they must not delay the
 * requests of known clients. Beyond the limit the answer is 429, and the connection ends with it, so that pipelined
 * requests behind it cost nothing.
 */
import { isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { createTokenBuckets } from './token-buckets.ts';

export type AddressLimits = { requestsPerSecond: number; burst: number };

export type AddressLimit = {
  /**
   * Counts one request for its client's address.
   * @throws AppError rate_limited
   */
  charge(request: FastifyRequest): void;
};

/**
 * Maximum request rate of one address. Health checks and scrapers ask once every few seconds; the reference page takes
 * six requests. Our own limits.
 */
const MAX_REQUESTS_PER_SECOND = 50;
const MAX_BURST = 500;
const MAX_ADDRESSES = 10_000;
/**
 * Number of 16-bit groups that identify a network (RFC 4291 section 2.5.1). The other half of an IPv6 address identifies
 * an interface, and a whole network counts as one client.
 */
const IPV6_PREFIX_GROUPS = 4;

/** Requests that exceeded the limit. */
const exceeded = new WeakSet<FastifyRequest>();

/** Returns a limit that has counted nothing. It remembers at most MAX_ADDRESSES addresses. */
export function createAddressLimit(
  clock: Pick<Clock, 'elapsed'>,
  { requestsPerSecond = MAX_REQUESTS_PER_SECOND, burst = MAX_BURST }: Partial<AddressLimits> = {},
): AddressLimit {
  const buckets = createTokenBuckets(clock, MAX_ADDRESSES);
  return {
    charge(request) {
      const size = { tokensPerSecond: requestsPerSecond, burst };
      const { allowed, tokens } = buckets.take(addressBlock(request.clientAddress), size);
      if (allowed) return;
      exceeded.add(request);
      throw new AppError(
        'rate_limited',
        `Without a valid API key, an address may send at most ${requestsPerSecond} requests a second`,
        { retryAfterSeconds: Math.ceil((1 - tokens) / requestsPerSecond) },
      );
    },
  };
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
      if (!isAuthenticated(request)) limit.charge(request);
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

function addressBlock(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toNormalizedString().split(':').slice(0, IPV6_PREFIX_GROUPS).join(':');
}
