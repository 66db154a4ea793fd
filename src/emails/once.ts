/** Requests that may be repeated, before they cost anything: a repeat is answered from the record, or by the one that runs. */
import type { App } from '../app.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { type Answer, findReplay, type IdempotencyClaim } from './idempotency/store.ts';
import { IDEMPOTENCY_WINDOW_MS } from './idempotency.ts';
import type { InFlight } from './in-flight.ts';

export type OnceApp = Pick<App, 'db' | 'clock'> & { inFlight: InFlight };

/** @throws AppError idempotency_conflict, idempotency_in_progress; and whatever `accept` throws */
export async function answerOnce<Response>(
  app: OnceApp,
  { tenantId, mode }: Caller,
  claim: IdempotencyClaim | undefined,
  accept: () => Promise<Answer<Response>>,
): Promise<Answer<Response>> {
  if (!claim) return accept();
  const { key, requestHash } = claim;
  const scope = JSON.stringify([tenantId, mode, key]);
  return app.inFlight.run({ scope, requestHash }, async () => {
    const replay = await findReplay<Response>(app.db.read, { tenantId, mode, now: app.clock.now() }, claim);
    return replay ?? accept();
  });
}

/** `requestHash`: of the request that takes the key, from now on. */
export function claimKey(key: string, requestHash: string, now: number): IdempotencyClaim {
  return { key, requestHash, expiresAt: now + IDEMPOTENCY_WINDOW_MS };
}
