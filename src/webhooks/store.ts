/**
 * Webhook endpoints and the posts due to them: all SQL, and the only writer of both tables. A pending delivery is due
 * to an endpoint that exists and is enabled; whatever ends the one ends the other in the same write.
 */
import { sql } from 'kysely';
import { defineWrite, type Tx } from '../db/operation.ts';
import { type Page, type PageRequest, readPage } from '../db/page.ts';
import { type Param, statement } from '../db/statement.ts';
import type { EventRow, WebhookDeliveryRow, WebhookEndpointRow } from '../db/tables.ts';
import { findEvent, listEventsToFanOut, markFannedOut } from '../events/store.ts';
import { AppError, notFound } from '../system/errors.ts';
import { newId } from '../system/ids.ts';

/** api.md 1.10. */
export const MOST_ENDPOINTS = 50;

export type EndpointId = WebhookEndpointRow['id'];
export type Owner = Pick<WebhookEndpointRow, 'tenantId' | 'mode'>;

/** @throws AppError validation_error when the tenant has as many as it may */
export const insertEndpoint = defineWrite('webhooks.insertEndpoint', async (tx, row: WebhookEndpointRow) => {
  const { count } = await tx
    .selectFrom('webhookEndpoints')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', row.tenantId)
    .executeTakeFirstOrThrow();
  if (count >= MOST_ENDPOINTS) {
    throw new AppError(
      'validation_error',
      `There are ${count} webhook endpoints already, as many as there may be; delete one first`,
    );
  }
  await tx.insertInto('webhookEndpoints').values(row).execute();
});

/** @throws AppError not_found */
export async function getEndpoint(tx: Tx, owner: Owner, id: EndpointId): Promise<WebhookEndpointRow> {
  const row = await tx
    .selectFrom('webhookEndpoints')
    .selectAll()
    .where('tenantId', '=', owner.tenantId)
    .where('mode', '=', owner.mode)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw endpointNotFound();
  return row;
}

export function endpointNotFound(): AppError {
  return notFound('Webhook endpoint');
}

export function listEndpoints(tx: Tx, owner: Owner, page: PageRequest): Promise<Page<WebhookEndpointRow>> {
  return readPage(page, ({ direction, cursor, limit }) => {
    const query = tx
      .selectFrom('webhookEndpoints')
      .selectAll()
      .where('tenantId', '=', owner.tenantId)
      .where('mode', '=', owner.mode)
      .orderBy('id', direction === 'older' ? 'desc' : 'asc')
      .limit(limit);
    const beyond = direction === 'older' ? '<' : '>';
    return (cursor === undefined ? query : query.where('id', beyond, cursor as EndpointId)).execute();
  });
}

/** @throws AppError not_found */
export const deleteEndpoint = defineWrite(
  'webhooks.deleteEndpoint',
  async (tx, { owner, id }: { owner: Owner; id: EndpointId }) => {
    await getEndpoint(tx, owner, id);
    await tx.deleteFrom('webhookEndpoints').where('id', '=', id).execute();
    await endPending(tx, id, 'The endpoint was deleted');
  },
);

/** Said with a literal: SQLite uses a partial index only for a condition it can read in the statement. */
const isPending = sql<boolean>`state = 'pending'`;

const endPendingStatement = statement((db, param: Param<{ endpointId: EndpointId; error: string }>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ state: 'failed', dueAt: null, error: param('error') })
    .where(isPending)
    .where('endpointId', '=', param('endpointId')),
);

async function endPending(tx: Tx, endpointId: EndpointId, error: string): Promise<void> {
  await endPendingStatement.all(tx, { endpointId, error });
}

const enabledEndpoints = statement((db, param: Param<Owner>) =>
  db
    .selectFrom('webhookEndpoints')
    .select(['id', 'events'])
    .where('tenantId', '=', param('tenantId'))
    .where('mode', '=', param('mode'))
    .where('status', '=', 'enabled'),
);

const insertDelivery = statement((db, param: Param<WebhookDeliveryRow>) =>
  db.insertInto('webhookDeliveries').values({
    id: param('id'),
    endpointId: param('endpointId'),
    tenantId: param('tenantId'),
    eventId: param('eventId'),
    state: param('state'),
    attempts: param('attempts'),
    dueAt: param('dueAt'),
    responseStatus: param('responseStatus'),
    error: param('error'),
    createdAt: param('createdAt'),
  }),
);

export type FanOutCounts = { events: number; deliveries: number };

/** Takes the oldest events nobody has looked at and makes a delivery for each endpoint that asked for their type. */
export const fanOutEvents = defineWrite(
  'webhooks.fanOut',
  async (tx, { now, limit }: { now: number; limit: number }): Promise<FanOutCounts> => {
    const events = await listEventsToFanOut(tx, limit);
    const subscribers = new Map<string, Subscriber[]>();
    let deliveries = 0;
    for (const event of events) {
      for (const endpoint of await findSubscribers(tx, subscribers, event)) {
        if (!endpoint.events.has(event.type)) continue;
        await insertDelivery.all(tx, newDelivery(event, endpoint.id, now));
        deliveries += 1;
      }
    }
    const ids = events.map((event) => event.id);
    await markFannedOut(tx, ids);
    return { events: events.length, deliveries };
  },
);

type Subscriber = { id: EndpointId; events: ReadonlySet<string> };

/** Read once for all events of a tenant in the batch. */
async function findSubscribers(
  tx: Tx,
  known: Map<string, Subscriber[]>,
  { tenantId, mode }: Owner,
): Promise<Subscriber[]> {
  const key = `${tenantId} ${mode}`;
  const found = known.get(key);
  if (found) return found;
  const rows = await enabledEndpoints.all(tx, { tenantId, mode });
  const subscribers = rows.map(({ id, events }) => ({ id, events: new Set(JSON.parse(events) as string[]) }));
  known.set(key, subscribers);
  return subscribers;
}

function newDelivery(event: EventRow, endpointId: EndpointId, now: number): WebhookDeliveryRow {
  return {
    id: newId('whd', now),
    endpointId,
    tenantId: event.tenantId,
    eventId: event.id,
    state: 'pending',
    attempts: 0,
    dueAt: now,
    responseStatus: null,
    error: null,
    createdAt: now,
  };
}

/** An endpoint that something is still to be posted to, and when the first of it falls due. */
export type WaitingEndpoint = { endpointId: EndpointId; dueAt: number };

/** Jumps from endpoint to endpoint in the index, so that it costs the same however much waits for each of them. */
const waitingEndpoints = statement((db) => ({
  compile: () =>
    sql<WaitingEndpoint>`
      WITH RECURSIVE waiting (endpointId) AS (
        SELECT min(endpointId) FROM webhookDeliveries WHERE state = 'pending'
        UNION ALL
        SELECT (SELECT min(later.endpointId) FROM webhookDeliveries AS later
                 WHERE later.state = 'pending' AND later.endpointId > waiting.endpointId)
          FROM waiting WHERE waiting.endpointId IS NOT NULL
      )
      SELECT endpointId,
             (SELECT min(one.dueAt) FROM webhookDeliveries AS one
               WHERE one.state = 'pending' AND one.endpointId = waiting.endpointId) AS dueAt
        FROM waiting WHERE endpointId IS NOT NULL
       ORDER BY dueAt`.compile(db),
}));

/** The longest due first. */
export function listWaitingEndpoints(tx: Tx): Promise<WaitingEndpoint[]> {
  return waitingEndpoints.all(tx, {});
}

/** One post, with all it takes to make it. */
export type LeasedDelivery = {
  id: WebhookDeliveryRow['id'];
  /** The one about to be made among them. */
  attempts: number;
  endpoint: Pick<WebhookEndpointRow, 'id' | 'tenantId' | 'url' | 'secretSealed'>;
  event: Pick<EventRow, 'id' | 'type' | 'mode' | 'createdAt' | 'data'>;
};

export type Lease = {
  now: number;
  /** Until then nobody else takes them; when nothing was settled by then, they are due again. */
  until: number;
  claims: readonly { endpointId: EndpointId; limit: number }[];
};

type LeaseOne = { endpointId: EndpointId; now: number; until: number; limit: number };

const leaseDue = statement((db, param: Param<LeaseOne>) =>
  db
    .updateTable('webhookDeliveries')
    .set((set) => ({ dueAt: param('until'), attempts: set('attempts', '+', 1) }))
    .where('id', 'in', (where) =>
      where
        .selectFrom('webhookDeliveries')
        .select('id')
        .where(isPending)
        .where('endpointId', '=', param('endpointId'))
        .where('dueAt', '<=', param('now'))
        .orderBy('dueAt')
        .limit(param('limit')),
    )
    .returning(['id', 'eventId', 'attempts']),
);

const endpointById = statement((db, param: Param<{ id: EndpointId }>) =>
  db
    .selectFrom('webhookEndpoints')
    .select(['id', 'tenantId', 'url', 'secretSealed', 'status'])
    .where('id', '=', param('id')),
);

/** Takes what is due to the endpoints named, up to the limit of each. */
export const leaseDeliveries = defineWrite(
  'webhooks.lease',
  async (tx, { now, until, claims }: Lease): Promise<LeasedDelivery[]> => {
    const leased: LeasedDelivery[] = [];
    for (const { endpointId, limit } of claims) {
      const endpoint = await endpointById.first(tx, { id: endpointId });
      if (endpoint?.status !== 'enabled') {
        await endPending(tx, endpointId, `The endpoint is ${endpoint?.status ?? 'deleted'}`);
        continue;
      }
      const { status: _, ...target } = endpoint;
      for (const { id, eventId, attempts } of await leaseDue.all(tx, { endpointId, now, until, limit })) {
        const event = await findEvent(tx, eventId);
        if (!event) throw new Error(`delivery ${id} is about an event that does not exist`);
        const { type, mode, createdAt, data } = event;
        leased.push({ id, attempts, endpoint: target, event: { id: eventId, type, mode, createdAt, data } });
      }
    }
    return leased;
  },
);

/** How a post ended: with nothing more to do, or to be made again. */
export type Settlement = Pick<WebhookDeliveryRow, 'id' | 'state' | 'dueAt' | 'responseStatus' | 'error'>;

const settleStatement = statement((db, param: Param<Settlement>) =>
  db
    .updateTable('webhookDeliveries')
    .set({
      state: param('state'),
      dueAt: param('dueAt'),
      responseStatus: param('responseStatus'),
      error: param('error'),
    })
    .where('id', '=', param('id'))
    .where(isPending),
);

/** Changes nothing when the delivery has ended meanwhile, because its endpoint did. */
export const settleDelivery = defineWrite('webhooks.settle', async (tx, settlement: Settlement) => {
  await settleStatement.all(tx, settlement);
});

/** The receiver said 410: this delivery and everything else due to the endpoint ends. */
export const settleGone = defineWrite(
  'webhooks.settleGone',
  async (
    tx,
    { settlement, endpointId, now }: { settlement: Settlement; endpointId: EndpointId; now: number },
  ) => {
    await settleStatement.all(tx, settlement);
    await tx
      .updateTable('webhookEndpoints')
      .set({ status: 'disabled', disabledReason: 'gone', updatedAt: now })
      .where('id', '=', endpointId)
      .where('status', '=', 'enabled')
      .execute();
    await endPending(tx, endpointId, 'The endpoint is disabled: its receiver is gone');
  },
);
