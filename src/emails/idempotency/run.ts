/**
 * Answers repeated requests before they cost anything: from the record, or from the identical request that is
 * running.
 */
import type { App } from '../../app.ts';
import type { Caller } from '../../tenants/authenticate.ts';
import type { Sent, SentBatch } from '../accept.ts';
import type { InFlight } from './in-flight.ts';
import { type Answer, findReplay, type IdempotencyClaim } from './store.ts';

export type OnceApp = Pick<App, 'db' | 'clock'> & { inFlight: InFlight };

/**
 * Returns the answer of an earlier request with this key, or runs `accept`.
 * @throws AppError idempotency_conflict, idempotency_in_progress; any error of `accept`
 */
export async function answerOnce<Response extends Sent | SentBatch>(
  app: OnceApp,
  { caller, claim }: { caller: Caller; claim: IdempotencyClaim | undefined },
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
