/** Creates an endpoint with the secret that signs its posts. */
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { newId } from '../system/ids.ts';
import { checkDestination } from './posting/destination.ts';
import { newSecret } from './posting/signature.ts';
import type { NewEndpoint } from './schemas.ts';
import { insertEndpoint, type Owner } from './store.ts';
import { eventList } from './update.ts';

/**
 * Creates an endpoint and returns it with its secret.
 * @throws AppError validation_error
 */
export async function createEndpoint(
  app: Pick<App, 'db' | 'clock' | 'config' | 'sealer'>,
  { tenantId, mode }: Owner,
  { url, events, description }: NewEndpoint,
): Promise<WebhookEndpointRow & { secret: string }> {
  checkDestination('url', url, app.config.webhooks);
  const secret = newSecret();
  const now = app.clock.now();
  const id = newId('wh', now);
  const row: WebhookEndpointRow = {
    id,
    tenantId,
    mode,
    url,
    description: description ?? null,
    events: eventList(events),
    status: 'enabled',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    warnedAt: null,
    consecutiveFailures: 0,
    suspendedUntil: null,
    secretSealed: app.sealer.seal(secret, [tenantId, id]),
    previousSecretSealed: null,
    previousSecretUntil: null,
    createdAt: now,
    updatedAt: now,
  };
  await app.db.commit(insertEndpoint, row);
  return { ...row, secret };
}
