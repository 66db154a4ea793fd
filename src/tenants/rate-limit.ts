/**
 * Requests a second (specification 7, decisions.md 28): a token bucket for each tenant whose plan has a limit. It holds two
 * seconds' worth, so that a burst after a pause passes. A batch is one request.
 */
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { TenantRow } from '../db/tables.ts';
import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';

export type RateLimit = {
  /** Takes one request of what the tenant has. Answers what it has then. */
  take(tenantId: TenantRow['id'], requestsPerSecond: number): Allowance;
};

export type Allowance = {
  allowed: boolean;
  requestsPerSecond: number;
  burst: number;
  /** Requests that may follow at once. */
  remaining: number;
  /** Until the whole burst is there again. */
  resetSeconds: number;
  /** Until one more is allowed. */
  retryAfterSeconds: number;
};

const BURST_SECONDS = 2;
/** A bucket that is dropped comes back full: beyond so many tenants at work at once, some get more than their plan says. */
const MOST_BUCKETS = 10_000;

export function createRateLimit(clock: Pick<Clock, 'elapsed'>): RateLimit {
  const buckets = new LRUCache<string, { tokens: number; atMs: number }>({ max: MOST_BUCKETS });
  return {
    take(tenantId, requestsPerSecond) {
      const atMs = clock.elapsed();
      const burst = requestsPerSecond * BURST_SECONDS;
      const before = buckets.get(tenantId) ?? { tokens: burst, atMs };
      const refilled = before.tokens + ((atMs - before.atMs) / 1_000) * requestsPerSecond;
      const held = Math.min(burst, refilled);
      const allowed = held >= 1;
      const tokens = allowed ? held - 1 : held;
      buckets.set(tenantId, { tokens, atMs });
      return {
        allowed,
        requestsPerSecond,
        burst,
        remaining: Math.floor(tokens),
        resetSeconds: Math.ceil((burst - tokens) / requestsPerSecond),
        retryAfterSeconds: Math.ceil(Math.max(0, 1 - tokens) / requestsPerSecond),
      };
    },
  };
}

/**
 * The four `ratelimit-*` headers of api.md 1.10.
 *
 * @throws AppError rate_limited
 */
export function requireAllowance(reply: FastifyReply, allowance: Allowance): void {
  const { requestsPerSecond, burst, remaining, resetSeconds, retryAfterSeconds } = allowance;
  reply.headers({
    'ratelimit-limit': requestsPerSecond,
    'ratelimit-policy': `${requestsPerSecond};w=1;burst=${burst}`,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': resetSeconds,
  });
  if (allowance.allowed) return;
  throw new AppError('rate_limited', `Your plan allows ${requestsPerSecond} requests a second`, {
    retryAfterSeconds,
  });
}
