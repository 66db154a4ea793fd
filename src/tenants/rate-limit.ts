/**
 * Limits requests per second (specification 7) with a token bucket for each tenant whose plan has a limit. The bucket
 * holds the tokens of two seconds, so that a burst after a pause passes. A batch is one request. HTTP is asked about in authenticate.ts, and
 * each message by SMTP in submission/users/key-user.ts.
 */
import type { FastifyReply } from 'fastify';
import type { TenantRow } from '../db/tenant-tables.ts';
import { AppError } from '../system/errors.ts';
import type { TokenBuckets } from '../system/guards/token-buckets.ts';

export type RateLimit = {
  /** Takes one token of the tenant, if there is one. Returns the allowance after that. */
  take(tenantId: TenantRow['id'], requestsPerSecond: number): Allowance;
};

type Allowance = {
  allowed: boolean;
  requestsPerSecond: number;
  burst: number;
  /** Number of requests that may follow at once. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  resetSeconds: number;
  /** Seconds until one more request is allowed. */
  retryAfterSeconds: number;
};

const BURST_SECONDS = 2;

/** Returns the rate limiter of all tenants, which takes its tokens from these buckets. */
export function createRateLimit(buckets: TokenBuckets): RateLimit {
  return {
    take(tenantId, requestsPerSecond) {
      const burst = requestsPerSecond * BURST_SECONDS;
      const { allowed, tokens } = buckets.take(tenantId, { tokensPerSecond: requestsPerSecond, burst });
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
 * Sets the four `ratelimit-*` headers.
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
  throw new AppError('rate_limited', `Your plan allows ${requestsPerSecond} requests per second`, {
    retryAfterSeconds,
  });
}
