/** Requests that may be repeated, before they cost anything: a repeat is answered from the record, or by the one that runs. */
import type { App } from '../app.ts';
import { AppError } from '../system/errors.ts';
import type { Caller } from '../tenants/authenticate.ts';
import type { Sent, SentBatch } from './accept.ts';
import { type Answer, findReplay, type IdempotencyClaim } from './idempotency/store.ts';
import { IDEMPOTENCY_WINDOW_MS } from './idempotency.ts';
import type { InFlight } from './in-flight.ts';
import { findEmailHead } from './store.ts';

export type OnceApp = Pick<App, 'db' | 'clock'> & { inFlight: InFlight };

/** @throws AppError idempotency_conflict, idempotency_in_progress, restricted_api_key; and any error of `accept` */
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
  const answer = await app.inFlight.run({ scope, requestHash }, async () => {
    const replay = await findReplay<Response>(app.db.read, { tenantId, mode, now: app.clock.now() }, claim);
    return replay ?? accept();
  });
  if (answer.replayed) await requireOwnMail(app, caller, answer.response);
  return answer;
}

/**
 * Requires that the repeated emails are all of the key's domain, if it is limited to one: idempotency keys belong to a
 * tenant, not to an API key.
 */
async function requireOwnMail(app: OnceApp, caller: Caller, response: Sent | SentBatch): Promise<void> {
  const { tenantId, mode, domainId } = caller;
  if (domainId === null) return;
  for (const { id } of 'data' in response ? response.data : [response]) {
    if (id === null || (await findEmailHead(app.db.read, tenantId, { mode, domainId, id }))) continue;
    throw new AppError(
      'restricted_api_key',
      'This Idempotency-Key belongs to mail of a domain that this API key may not send from',
      { param: 'Idempotency-Key' },
    );
  }
}

/** `requestHash`: of the request that takes the key, from now on. */
export function claimKey(key: string, requestHash: string, now: number): IdempotencyClaim {
  return { key, requestHash, expiresAt: now + IDEMPOTENCY_WINDOW_MS };
}
