/**
 * Answers repeated requests before they cost anything: from the record, or from the identical request that is
 * running.
 */
import type { App } from '../../app.ts';
import type { Caller } from '../../tenants/authenticate.ts';
import type { Sent, SentBatch } from '../accept.ts';
import { IDEMPOTENCY_WINDOW_MS } from '../idempotency.ts';
import type { InFlight } from './in-flight.ts';
import { type Answer, findReplay, type IdempotencyClaim } from './store.ts';

export type OnceApp = Pick<App, 'db' | 'clock'> & { inFlight: InFlight };

/**
 * Returns the answer of an earlier request with this key, or runs `accept`.
 * @throws AppError idempotency_conflict, idempotency_in_progress; any error of `accept`
 */
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
 * Returns the claim of a request on its Idempotency-Key. It expires after `IDEMPOTENCY_WINDOW_MS`. API keys of a
 * tenant share their Idempotency-Keys. API keys that are limited to one domain have separate Idempotency-Keys for
 * each domain: such an API key must neither see the answers of others nor leave a refusal for them. No header value
 * contains a line feed, so the two kinds never collide.
 */
export function claimKey(
  { domainId }: Pick<Caller, 'domainId'>,
  request: { key: string; hash: string },
  now: number,
): IdempotencyClaim {
  const key = domainId === null ? request.key : `${domainId}\n${request.key}`;
  return { key, requestHash: request.hash, expiresAt: now + IDEMPOTENCY_WINDOW_MS };
}
