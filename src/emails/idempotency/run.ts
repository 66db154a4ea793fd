/** Requests that may be repeated, before they cost anything: a repeat is answered from the record, or by the one that runs. */
import type { App } from '../../app.ts';
import type { Caller } from '../../tenants/authenticate.ts';
import type { Sent, SentBatch } from '../accept.ts';
import { IDEMPOTENCY_WINDOW_MS } from '../idempotency.ts';
import type { InFlight } from './in-flight.ts';
import { type Answer, findReplay, type IdempotencyClaim } from './store.ts';

export type OnceApp = Pick<App, 'db' | 'clock'> & { inFlight: InFlight };

/** @throws AppError idempotency_conflict, idempotency_in_progress; and any error of `accept` */
export async function answerOnce<Response extends Sent | SentBatch>(
  app: OnceApp,
  caller: Caller,
  claim: IdempotencyClaim | undefined,
  accept: () => Promise<Answer<Response>>,
): Promise<Answer<Response>> {
  if (!claim) return accept();
  const { tenantId, mode } = caller;
  const { key, requestHash } = claim;
  const scope = JSON.stringify([tenantId, mode, key]);
  return app.inFlight.run({ scope, requestHash }, async () => {
    const replay = await findReplay<Response>(app.db.read, { tenantId, mode, now: app.clock.now() }, claim);
    return replay ?? accept();
  });
}

/**
 * The claim of a request on its Idempotency-Key, from now on. API keys of a tenant share their Idempotency-Keys, except
 * that those limited to one domain have their own for each domain: such a key must neither learn what others have sent nor
 * leave a refusal where others would find it. No header value has a line feed, so the two kinds never collide.
 */
export function claimKey(
  { domainId }: Pick<Caller, 'domainId'>,
  request: { key: string; hash: string },
  now: number,
): IdempotencyClaim {
  const key = domainId === null ? request.key : `${domainId}\n${request.key}`;
  return { key, requestHash: request.hash, expiresAt: now + IDEMPOTENCY_WINDOW_MS };
}
