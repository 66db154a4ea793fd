/** Creates an endpoint with the secret that signs its posts. */
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { AppError, invalid } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { checkDestination } from './posting/destination.ts';
import { newSecret } from './posting/signature.ts';
import type { NewEndpoint } from './schemas.ts';
import { insertEndpoint, type Owner } from './store.ts';
import { eventList } from './update.ts';

/**
 * Creates an endpoint and returns it with its secret.
 * @throws AppError validation_error; restricted_api_key when a key of one domain asks for the events of the whole tenant
 */
export async function createEndpoint(
  app: Pick<App, 'db' | 'clock' | 'config' | 'sealer'>,
  { tenantId, mode, ...limit }: Owner,
  { url, events, description, domainId, format = 'default' }: NewEndpoint,
): Promise<WebhookEndpointRow & { secret: string }> {
  checkDestination('url', url, app.config.webhooks);
  const secret = newSecret();
  const now = app.clock.now();
  const id = newId('wh', now);
  const row: WebhookEndpointRow = {
    id,
    tenantId,
    mode,
    domainId: readDomainId(limit, domainId),
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
    format,
  };
  await app.db.commit(insertEndpoint, row);
  return { ...row, secret };
}

/**
 * Returns the domain whose events an endpoint gets: that of the key, or else the requested one.
 * @throws AppError validation_error, restricted_api_key
 */
function readDomainId(
  { domainId }: Pick<Owner, 'domainId'>,
  wanted: NewEndpoint['domainId'],
): WebhookEndpointRow['domainId'] {
  if (domainId === null || wanted === undefined || wanted === domainId)
    return domainId ?? (wanted as WebhookEndpointRow['domainId'] | undefined) ?? null;
  if (wanted !== null) throw invalid('domainId', '`domainId` is not a domain of the tenant');
  throw new AppError(
    'restricted_api_key',
    'This API key is limited to one domain, so its endpoints get the events of that domain alone',
    { param: 'domainId' },
  );
}
