/** Reads the log of deliveries for its owner. This module writes nothing. */
import type { Tx } from '../../db/operation.ts';
import type { TaskRow } from '../../db/own-tables.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import type { WebhookDeliveryRow } from '../../db/webhook-tables.ts';
import { notFound } from '../../system/errors.ts';
import { type DeliveryId, type DeliveryState, type EndpointId, WEBHOOK_TASKS } from '../deliveries/store.ts';

export type LoggedDelivery = Omit<WebhookDeliveryRow, 'tenantId' | 'endpointId'> &
  Pick<TaskRow, 'dueAt' | 'runId'> & { eventType: string };

/** Returns a page of deliveries, newest first. The endpoint belongs to the caller. */
export function listDeliveries(
  tx: Tx,
  endpointId: EndpointId,
  { state, ...page }: PageRequest & { state: DeliveryState | undefined },
): Promise<Page<LoggedDelivery>> {
  const all = deliveriesOf(tx, endpointId);
  const ofState = state === undefined ? all : all.where('state', '=', state);
  return readPage(page, (slice) => inSlice(ofState, 'delivery.id', slice).execute());
}

/**
 * Returns a delivery. The endpoint belongs to the caller.
 * @throws AppError not_found, also for the delivery of another endpoint
 */
export async function getDelivery(tx: Tx, endpointId: EndpointId, id: string): Promise<LoggedDelivery> {
  return deliveriesOf(tx, endpointId)
    .where('delivery.id', '=', id as DeliveryId)
    .executeTakeFirstOrThrow(() => notFound('Webhook delivery'));
}

function deliveriesOf(tx: Tx, endpointId: EndpointId) {
  return tx
    .selectFrom('webhookDeliveries as delivery')
    .innerJoin('events', 'events.id', 'delivery.eventId')
    .leftJoin('tasks', (join) =>
      join.onRef('tasks.reference', '=', 'delivery.id').on('tasks.kind', '=', WEBHOOK_TASKS),
    )
    .select(['delivery.id', 'eventId', 'events.type as eventType', 'state', 'tasks.dueAt', 'tasks.runId'])
    .select((select) => select.fn.coalesce('tasks.attempts', 'delivery.attempts').as('attempts'))
    .select(['responseStatus', 'responseTimeMs', 'responseBody', 'delivery.error', 'delivery.createdAt'])
    .where('endpointId', '=', endpointId);
}
