/** Rotates the secret of an endpoint, only on request. */
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { newSecret } from './posting/signature.ts';
import { type Owner, replaceSecret } from './store.ts';

/**
 * Replaces the secret and returns the endpoint with the new one.
 * @param request.overlapSeconds time in which posts are also signed with the previous secret
 * @throws AppError not_found
 */
export async function rotateSecret(
  app: Pick<App, 'db' | 'clock' | 'sealer'>,
  owner: Owner,
  { id, overlapSeconds }: { id: string; overlapSeconds: number },
): Promise<WebhookEndpointRow & { secret: string }> {
  const secret = newSecret();
  const row = await app.db.commit(replaceSecret, {
    owner,
    id,
    secretSealed: app.sealer.seal(secret, [owner.tenantId, id]),
    overlapMs: overlapSeconds * 1_000,
    now: app.clock.now(),
  });
  return { ...row, secret };
}
