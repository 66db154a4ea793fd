/**
 * Requests without a valid API key are limited for each client address: nobody has to be known to send them, and they must
 * not take the time of those who are. Beyond the limit the answer is 429, and the connection ends with it, so that
 * whatever was pipelined behind the request costs nothing.
 */
import { isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { createTokenBuckets } from './token-buckets.ts';

export type AddressLimits = { requestsPerSecond: number; burst: number };

export type AddressLimit = {
  /** Counts one request to its client's address. @throws AppError rate_limited */
  charge(request: FastifyRequest): void;
};

/** Health checks and scrapers ask once in some seconds; the reference page takes six requests. Our own limits. */
const MAX_REQUESTS_PER_SECOND = 50;
const MAX_BURST = 500;
const MAX_ADDRESSES = 10_000;
/** RFC 4291 2.5.1: the other half of an IPv6 address names an interface of one network, which is one client here. */
const IPV6_PREFIX_GROUPS = 4;

/** Requests that were over the limit. */
const exceeded = new WeakSet<FastifyRequest>();

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
  /** Whether the sender of the request is known, once `onRequest` is over. */
  isAuthenticated: (request: FastifyRequest) => boolean;
  onRefusal: () => void;
};

/** Counts what nobody known has sent, before its body is read. A refused API key is counted where it is refused. */
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

/** For a refused request: true when it was over the limit, and its connection ends with the answer. */
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
