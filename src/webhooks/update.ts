/** Changes an endpoint. Fields that the request does not name stay (specification 4.12). */
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { invalid } from '../system/errors.ts';
import { wakeTasks } from '../tasks/engine.ts';
import { WEBHOOK_TASKS } from './deliveries/store.ts';
import { checkDestination } from './posting/destination.ts';
import type { EndpointChange } from './schemas.ts';
import { changeEndpoint, type Owner } from './store.ts';

/**
 * Changes an endpoint and returns it.
 * @throws AppError not_found, validation_error
 */
export async function updateEndpoint(
  app: Pick<App, 'db' | 'clock' | 'config' | 'wakeups'>,
  owner: Owner,
  { id, wanted }: { id: string; wanted: EndpointChange },
): Promise<WebhookEndpointRow> {
  // The schema ignores unknown fields, but a request with this field expects the secret to change.
  if (Object.hasOwn(wanted, 'secret')) {
    throw invalid('secret', '`secret` cannot be chosen; POST /v1/webhooks/{id}/rotate-secret makes another');
  }
  const { url, events, description, status } = wanted;
  if (url !== undefined) checkDestination('url', url, app.config.webhooks);
  const patch = {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: eventList(events) }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
  };
  const row = await app.db.commit(changeEndpoint, { owner, id, patch, now: app.clock.now() });
  wakeTasks(app, WEBHOOK_TASKS, [row.id]);
  return row;
}

/** Returns the list of events in its stored form. */
export function eventList(events: readonly string[]): string {
  return JSON.stringify([...new Set(events)]);
}
