/**
 * Checks of a domain that its owner asks for and waits for. A check of a domain whose name servers are silent takes
 * 10 seconds and several questions to DNS, so the number of checks at the same time is limited and shared among tenants.
 */
import { AppError } from '../system/errors.ts';
import { Shares } from '../system/shares.ts';
import type { Domain } from './store.ts';
import { type CheckingApp, verifyDomain } from './verify.ts';

export type Verify = (tenantId: Domain['tenantId'], id: string) => Promise<Domain>;

/** Maximum number of checks on demand at the same time. One tenant alone has half of them. Our own limit. */
export const MAX_VERIFIES = 16;
/** Most checks end within this time. */
const RETRY_AFTER_SECONDS = 2;

/** A request for a domain that is being checked waits for that check and has its result. */
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
