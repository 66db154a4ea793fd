/**
 * Limits the checks that callers request and wait for. A check of a domain whose name servers do not answer takes 10
 * seconds and several DNS questions, so the number of concurrent checks is limited and shared among tenants.
 */
import { AppError } from '../system/errors.ts';
import { Shares } from '../system/shares.ts';
import type { Domain } from './store.ts';
import { type CheckingApp, verifyDomain } from './verify.ts';

export type Verify = (tenantId: Domain['tenantId'], id: string) => Promise<Domain>;

/** Maximum number of concurrent checks on demand. One tenant may use half of them. Our own limit. */
export const MAX_VERIFIES = 16;
/** Delay that a caller is asked to wait. Most checks end within this time. */
const RETRY_AFTER_SECONDS = 2;

/** Returns the function that checks a domain on demand. Concurrent requests for one domain share one check. */
export function createVerify(app: CheckingApp): Verify {
  const underWay = new Map<string, Promise<Domain>>();
  const slots = new Shares<Domain['tenantId']>(MAX_VERIFIES);
  return (tenantId, id) => {
    const key = `${tenantId} ${id}`;
    const running = underWay.get(key);
    if (running !== undefined) return running;
    if (!slots.take(tenantId)) return Promise.reject(busy());
    const verify = verifyDomain(app, tenantId, id).finally(() => {
      underWay.delete(key);
      slots.release(tenantId);
    });
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
