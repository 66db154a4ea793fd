/**
 * Limits the checks that callers request and wait for. A check of a domain whose name servers do not answer takes 10
 * seconds and several DNS questions, so the number of concurrent checks is limited and shared among tenants.
 */
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError } from '../system/errors.ts';
import type { Domain } from './store.ts';
import { type CheckingApp, verifyDomain } from './verify.ts';

type Verify = (tenantId: Domain['tenantId'], id: string) => Promise<Domain>;

/** Maximum number of concurrent checks on demand. One tenant may use half of them. */
export const MAX_VERIFIES = 16;
/** Delay that a caller is asked to wait. Most checks end within this time. */
const RETRY_AFTER_SECONDS = 2;

/** Returns the function that checks a domain on demand. Concurrent requests for one domain share one check. */
export function createVerify(app: CheckingApp): Verify {
  const underWay = new Map<string, Promise<Domain>>();
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_VERIFIES, perFree: 1, maxWaiting: 0 });
  return (tenantId, id) => {
    const key = `${tenantId} ${id}`;
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const verified = limiter.tryRun(() => verifyDomain(app, tenantId, id), { owner: tenantId });
    if (verified === undefined) return Promise.reject(busy());
    const verify = verified.finally(() => underWay.delete(key));
    underWay.set(key, verify);
    return verify;
  };
}

function busy(): AppError {
  return new AppError(
    'unavailable',
    'Too many domains are being verified; wait until one of the checks has ended',
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
