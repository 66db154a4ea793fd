/**
 * Stores deliveries, each of one event to one endpoint. All SQL of this table is here, and nothing else writes it. A
 * delivery is pending until it is delivered, failed or skipped; meanwhile it has a task, which says when it is posted.
 */
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineRead, defineWrite, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow, WebhookReplayRow } from '../../db/webhook-tables.ts';
import { type EventToFanOut, findEvent } from '../../events/store.ts';
import { newId } from '../../system/ids.ts';
import { cancelWaiting, type NewTask, scheduleTask } from '../../tasks/store.ts';
import type { Recorded } from '../posting/settle.ts';
import { endReplays } from './replays-store.ts';

export type EndpointId = WebhookEndpointRow['id'];
export type DeliveryId = WebhookDeliveryRow['id'];
export type DeliveryState = WebhookDeliveryRow['state'];

/** Kind of the tasks of deliveries. */
export const WEBHOOK_TASKS = 'webhooks';

/** Maximum number of rows that one write changes or removes, so that other writes wait only a short time. */
const BATCH = 500;

type NewDelivery = Omit<WebhookDeliveryRow, 'responseStatus' | 'responseTimeMs' | 'responseBody'>;

const insert = statement((db, param: Param<NewDelivery>) =>
  db.insertInto('webhookDeliveries').values({
    id: param('id'),
    endpointId: param('endpointId'),
    tenantId: param('tenantId'),
    eventId: param('eventId'),
    state: param('state'),
    attempts: param('attempts'),
    error: param('error'),
    createdAt: param('createdAt'),
  }),
);

/** Stores a delivery that is due at once, or a skipped one that a disabled endpoint can replay later. */
export async function insertDelivery(
  tx: Tx,
  event: EventToFanOut,
  { endpoint, now }: { endpoint: Pick<WebhookEndpointRow, 'id' | 'status'>; now: number },
): Promise<void> {
  const skipped = endpoint.status === 'disabled';
  const id = newId('whd', now);
  const { tenantId } = event;
  await insert.all(tx, {
    id,
    endpointId: endpoint.id,
    tenantId,
    eventId: event.id,
    state: skipped ? 'skipped' : 'pending',
    attempts: 0,
    error: skipped ? CLOSED.disabled.error : null,
    createdAt: now,
  });
  if (!skipped) await scheduleTask(tx, taskOf({ id, endpointId: endpoint.id, tenantId }, now));
}

function taskOf(
  { id, endpointId, tenantId }: Pick<WebhookDeliveryRow, 'id' | 'endpointId' | 'tenantId'>,
  dueAt: number,
): NewTask {
  return { kind: WEBHOOK_TASKS, reference: id, queueKey: endpointId, tenantId, dueAt };
}

/** States and errors of deliveries that wait for an endpoint which gets no more posts. */
export const CLOSED = {
  disabled: { state: 'skipped', error: 'The endpoint is disabled' },
  deleted: { state: 'failed', error: 'The endpoint was deleted' },
} as const;

type Ending = Pick<WebhookDeliveryRow, 'id' | 'state' | 'error'>;

const endStatement = statement((db, param: Param<Ending>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ state: param('state'), error: param('error') })
    .where('id', '=', param('id')),
);

/**
 * Ends waiting deliveries and the replays of an endpoint that gets no more posts. A running post settles by itself, since it
 * may succeed. Deliveries beyond one batch end when their tasks are run.
 */
export async function endPending(tx: Tx, endpointId: EndpointId, why: keyof typeof CLOSED): Promise<void> {
  await endReplays(tx, endpointId);
  for (const id of await cancelWaiting(tx, { kind: WEBHOOK_TASKS, queueKey: endpointId, limit: BATCH }))
    await endStatement.all(tx, { id: id as DeliveryId, ...CLOSED[why] });
}

type Posted = Omit<Recorded, 'reference' | 'now'> & { id: DeliveryId };

const stateOf = statement((db, param: Param<Posted>) =>
  db
    .updateTable('webhookDeliveries')
    .set({
      state: param('state'),
      attempts: param('attempts'),
      responseStatus: param('responseStatus'),
      responseTimeMs: param('responseTimeMs'),
      responseBody: param('responseBody'),
      error: param('error'),
    })
    .where('id', '=', param('id')),
);

/** Stores what a post of a delivery has come to. Its task says when it is posted again. */
export async function recordPost(tx: Tx, post: Posted): Promise<void> {
  await stateOf.all(tx, post);
}

const oldestPending = statement((db) =>
  db
    .selectFrom('tasks')
    .innerJoin('webhookDeliveries as delivery', (join) => join.onRef('delivery.id', '=', 'tasks.reference'))
    .select('delivery.createdAt')
    .where('tasks.kind', '=', WEBHOOK_TASKS)
    .orderBy('tasks.reference')
    .limit(1),
);

/** Returns when the oldest delivery was created that is still to be posted, in Unix milliseconds. */
export async function findOldestPending(tx: Tx): Promise<number | undefined> {
  return (await oldestPending.first(tx, {}))?.createdAt;
}

const oldestOfEndpoint = statement((db, param: Param<{ endpointId: EndpointId }>) =>
  db
    .selectFrom('webhookDeliveries')
    .select('createdAt')
    .where('endpointId', '=', param('endpointId'))
    .where('state', '=', 'pending')
    .orderBy('id')
    .limit(1),
);

/** Returns when the oldest pending delivery of an endpoint was created, in Unix milliseconds; null when none is pending. */
export async function findWaitingSince(tx: Tx, endpointId: EndpointId): Promise<number | null> {
  return (await oldestOfEndpoint.first(tx, { endpointId }))?.createdAt ?? null;
}

type FailingWindow = { endpointId: EndpointId; after: DeliveryId; before: DeliveryId; limit: number };

const failing = statement((db, param: Param<FailingWindow>) =>
  db
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('endpointId', '=', param('endpointId'))
    .where('state', 'in', ['failed', 'pending'])
    .where('attempts', '>', 0)
    .where('id', '>', constant(param('after')))
    .where('id', '<', constant(param('before')))
    .limit(constant(param('limit'))),
);

/** Returns the number of deliveries in the window that have failed so far, at most `limit`. */
export async function countFailing(tx: Tx, window: FailingWindow): Promise<number> {
  return (await failing.all(tx, window)).length;
}

/** The state of a new delivery that is due now. */
const DUE_AGAIN = {
  state: 'pending',
  attempts: 0,
  responseStatus: null,
  responseTimeMs: null,
  responseBody: null,
  error: null,
} as const satisfies Partial<WebhookDeliveryRow>;

const TASK_COLUMNS = ['id', 'endpointId', 'tenantId'] as const;

const beginAnewStatement = statement((db, param: Param<{ id: DeliveryId }>) =>
  db.updateTable('webhookDeliveries').set(DUE_AGAIN).where('id', '=', param('id')).returning(TASK_COLUMNS),
);

/** Makes a delivery of any state due again. It must not be leased. */
export async function makeDueAgain(tx: Tx, id: DeliveryId, now: number): Promise<void> {
  for (const row of await beginAnewStatement.all(tx, { id })) await scheduleTask(tx, taskOf(row, now));
}

const beginSliceAnewStatement = statement((db, param: Param<WebhookReplayRow>) =>
  db
    .updateTable('webhookDeliveries')
    .set(DUE_AGAIN)
    .where('id', 'in', (where) =>
      where
        .selectFrom('webhookDeliveries')
        .select('id')
        .where('endpointId', '=', param('endpointId'))
        .where('state', '=', param('state'))
        .where('id', '>', param('afterId'))
        .where('id', '<', param('beforeId'))
        .orderBy('id')
        .limit(BATCH),
    )
    .returning(TASK_COLUMNS),
);

/** Makes a batch of the oldest deliveries due again. Returns where to continue, or undefined at the end. */
export async function makeSliceDueAgain(
  tx: Tx,
  { now, ...slice }: WebhookReplayRow & { now: number },
): Promise<DeliveryId | undefined> {
  const rows = await beginSliceAnewStatement.all(tx, slice);
  for (const row of rows) await scheduleTask(tx, taskOf(row, now));
  // The changed rows come back in no fixed order, so they are sorted.
  return rows.map(({ id }) => id).toSorted()[BATCH - 1];
}

type Counted = Omit<WebhookReplayRow, 'state'> & {
  states: readonly WebhookReplayRow['state'][];
  limit: number;
};

/** Returns the number of deliveries that a replay would include, at most `limit`. */
export const countReplayable = defineRead(
  'webhooks.countReplayable',
  async (tx, { endpointId, states, afterId, beforeId, limit }: Counted): Promise<number> => {
    const found = tx
      .selectFrom('webhookDeliveries')
      .select('id')
      .where('endpointId', '=', endpointId)
      .where('state', 'in', states)
      .where('id', '>', afterId)
      .where('id', '<', beforeId)
      .limit(limit);
    const { count } = await tx
      .selectFrom(found.as('found'))
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  },
);

/** Deletes the next deliveries of the range. A pending one is kept until it has ended. */
export const expireDeliveries = defineWrite(
  'webhooks.expireDeliveries',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'webhookDeliveries', range);
    const { numDeletedRows } = await tx
      .deleteFrom('webhookDeliveries')
      .where(isInSlice)
      .where('state', '<>', 'pending')
      .executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);

/** Returns the event of a delivery. The log shows only deliveries whose event exists. */
export async function getEventOf(tx: Tx, { id, eventId }: Pick<WebhookDeliveryRow, 'id' | 'eventId'>) {
  const event = await findEvent(tx, eventId);
  if (!event) throw new Error(`delivery ${id} is about an event that does not exist`);
  return event;
}
