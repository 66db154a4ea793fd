/**
 * Stores deliveries, each of one event to one endpoint. All SQL of this table is here, and nothing else writes it. A
 * delivery is pending until it is delivered, failed or skipped; during a post it is leased to this run of the daemon
 * or of its thread.
 */
import { sql } from 'kysely';
import { MOVED_ROWS, moveSlice, type SetBack } from '../../db/due-times.ts';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineRead, defineWrite, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow, WebhookReplayRow } from '../../db/webhook-tables.ts';
import { type EventToFanOut, findEvent } from '../../events/store.ts';
import { newId } from '../../system/ids.ts';
import { interruptedDelayMs } from '../posting/interrupted.ts';
import type { WaitingEndpoint } from '../posting/slots.ts';
import { endReplays } from './replays/store.ts';

export type EndpointId = WebhookEndpointRow['id'];
export type DeliveryId = WebhookDeliveryRow['id'];
export type DeliveryState = WebhookDeliveryRow['state'];

/** Maximum number of rows that one write changes or removes, so that other writes wait only a short time. */
const BATCH = 500;

type NewDelivery = Omit<WebhookDeliveryRow, 'runId' | 'responseStatus' | 'responseTimeMs' | 'responseBody'>;

const insert = statement((db, param: Param<NewDelivery>) =>
  db.insertInto('webhookDeliveries').values({
    id: param('id'),
    endpointId: param('endpointId'),
    tenantId: param('tenantId'),
    eventId: param('eventId'),
    state: param('state'),
    attempts: param('attempts'),
    dueAt: param('dueAt'),
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
  await insert.all(tx, {
    id: newId('whd', now),
    endpointId: endpoint.id,
    tenantId: event.tenantId,
    eventId: event.id,
    state: skipped ? 'skipped' : 'pending',
    attempts: 0,
    dueAt: skipped ? null : now,
    error: skipped ? DISABLED.error : null,
    createdAt: now,
  });
}

/** The condition is literal, because SQLite uses a partial index only when it can see the index's condition. */
const isPending = sql<boolean>`state = 'pending'`;

type Ending = { state: 'failed' | 'skipped'; error: string };
const DISABLED: Ending = { state: 'skipped', error: 'The endpoint is disabled' };
const DELETED: Ending = { state: 'failed', error: 'The endpoint was deleted' };

type EndPending = Ending & { endpointId: EndpointId; now: number };

const endPendingStatement = statement((db, param: Param<EndPending>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ state: param('state'), dueAt: null, runId: null, error: param('error') })
    .where('id', 'in', (where) =>
      where
        .selectFrom('webhookDeliveries')
        .select('id')
        .where(isPending)
        .where('endpointId', '=', param('endpointId'))
        .where((is) => is.or([is('runId', 'is', null), is('dueAt', '<=', param('now'))]))
        .orderBy('dueAt')
        .limit(BATCH),
    ),
);

/**
 * Ends the pending deliveries and the replays of an endpoint that gets no more posts. A running post settles by
 * itself, since it may succeed. Deliveries beyond one batch end when they are leased (`webhooks/lease.ts`).
 */
export async function endPending(
  tx: Tx,
  endpointId: EndpointId,
  { why, now }: { why: 'disabled' | 'deleted'; now: number },
): Promise<void> {
  await endReplays(tx, endpointId);
  await endPendingStatement.all(tx, { ...(why === 'disabled' ? DISABLED : DELETED), endpointId, now });
}

/** Skips from endpoint to endpoint in the index, so that the cost does not depend on the number of deliveries. */
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
      SELECT endpointId, endpoint.tenantId AS tenantId,
             max((SELECT min(one.dueAt) FROM webhookDeliveries AS one
                   WHERE one.state = 'pending' AND one.endpointId = waiting.endpointId),
                 coalesce(endpoint.suspendedUntil, 0)) AS dueAt,
             endpoint.failingSince IS NOT NULL AS failing
        FROM waiting LEFT JOIN webhookEndpoints AS endpoint ON endpoint.id = waiting.endpointId
       WHERE endpointId IS NOT NULL
       ORDER BY dueAt`.compile(db),
}));

/** Returns the endpoints with pending deliveries, the longest due first. */
export function listWaitingEndpoints(tx: Tx): Promise<WaitingEndpoint[]> {
  return waitingEndpoints.all(tx, {});
}

type LeaseDue = { endpointId: EndpointId; now: number; until: number; runId: string; limit: number };

const leaseDueStatement = statement((db, param: Param<LeaseDue>) =>
  db
    .updateTable('webhookDeliveries')
    .set((set) => ({ dueAt: param('until'), runId: param('runId'), attempts: set('attempts', '+', 1) }))
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

/** Leases the longest due deliveries, also those with an expired lease, and counts the attempt. */
export function leaseDue(
  tx: Tx,
  lease: LeaseDue,
): Promise<Pick<WebhookDeliveryRow, 'id' | 'eventId' | 'attempts'>[]> {
  return leaseDueStatement.all(tx, lease);
}

/** Identifies one lease. A result of another lease is ignored. */
export type LeaseToken = Pick<WebhookDeliveryRow, 'id' | 'attempts'> & { runId: string };

/** The result of a post: the delivery has ended, or is due again. */
export type Ended = Pick<
  WebhookDeliveryRow,
  'state' | 'dueAt' | 'responseStatus' | 'responseTimeMs' | 'responseBody' | 'error'
>;

const settleStatement = statement((db, param: Param<LeaseToken & Ended>) =>
  db
    .updateTable('webhookDeliveries')
    .set({
      state: param('state'),
      dueAt: param('dueAt'),
      runId: null,
      responseStatus: param('responseStatus'),
      responseTimeMs: param('responseTimeMs'),
      responseBody: param('responseBody'),
      error: param('error'),
    })
    .where('id', '=', param('id'))
    .where(isPending)
    .where('runId', '=', param('runId'))
    .where('attempts', '=', param('attempts'))
    .returning('id'),
);

/** Settles a delivery. Returns false, and changes nothing, when the lease is no longer valid. */
export async function settleLeased(tx: Tx, settlement: LeaseToken & Ended): Promise<boolean> {
  return (await settleStatement.first(tx, settlement)) !== undefined;
}

const giveUpStatement = statement((db, param: Param<{ id: DeliveryId; attempts: number; error: string }>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ state: 'failed', dueAt: null, runId: null, attempts: param('attempts'), error: param('error') })
    .where('id', '=', param('id')),
);

/** Ends a delivery that was leased `attempts` times and whose last lease was never settled. */
export async function giveUpUnsettled(tx: Tx, id: DeliveryId, attempts: number): Promise<void> {
  await giveUpStatement.all(tx, { id, attempts, error: 'The last attempt was interrupted' });
}

/** Ends a delivery whose event retention has removed, as happens when the daemon was down for months. */
export async function endWithoutEvent(
  tx: Tx,
  { id, attempts }: Pick<WebhookDeliveryRow, 'id' | 'attempts'>,
): Promise<void> {
  await giveUpStatement.all(tx, { id, attempts, error: 'The event is no longer kept' });
}

export type PendingRow = Pick<WebhookDeliveryRow, 'id' | 'endpointId'> & { dueAt: number };

const pendingAfter = statement((db, param: Param<PendingRow>) =>
  db
    .selectFrom('webhookDeliveries')
    .select(['id', 'endpointId', 'dueAt'])
    .where(isPending)
    .where(
      sql<boolean>`(endpointId, dueAt, id) > (${constant(param('endpointId'))}, ${constant(param('dueAt'))}, ${constant(param('id'))})`,
    )
    .orderBy('endpointId')
    .orderBy('dueAt')
    .orderBy('id')
    .limit(MOVED_ROWS),
);

const setDueAt = statement((db, param: Param<{ id: DeliveryId; dueAt: number }>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ dueAt: param('dueAt') })
    .where('id', '=', param('id')),
);

/** Moves due times, and the ends of leases, when the wall clock was set back. Returns the last row of a full slice. */
export const moveDueDeliveries = defineWrite(
  'webhooks.moveDue',
  async (tx, { after, ...setBack }: SetBack & { after: PendingRow }): Promise<PendingRow | undefined> => {
    const rows = await pendingAfter.all(tx, after);
    return moveSlice(rows, setBack, async ({ id }, dueAt) => {
      await setDueAt.all(tx, { id, dueAt });
    });
  },
);

const releaseStatement = statement((db, param: Param<{ now: number; runId: string }>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ dueAt: sql`${param('now')} + ${interruptedDelayMs}`, runId: null })
    .where('runId', 'is not', null)
    .where('runId', '!=', param('runId'))
    .returning('id'),
);

/** Ends the leases of an earlier run. Most deliveries are due at once (`INTERRUPTED_DELAYS_MS`). Returns their number. */
export const releaseAbandoned = defineWrite(
  'webhooks.releaseAbandoned',
  async (tx, { now, runId }: { now: number; runId: string }): Promise<number> =>
    (await releaseStatement.all(tx, { now, runId })).length,
);

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
  runId: null,
  responseStatus: null,
  responseTimeMs: null,
  responseBody: null,
  error: null,
} as const satisfies Partial<WebhookDeliveryRow>;

const beginAnewStatement = statement((db, param: Param<{ id: DeliveryId; now: number }>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ ...DUE_AGAIN, dueAt: param('now') })
    .where('id', '=', param('id')),
);

/** Makes a delivery of any state due again. It must not be leased. */
export async function makeDueAgain(tx: Tx, id: DeliveryId, now: number): Promise<void> {
  await beginAnewStatement.all(tx, { id, now });
}

type ReplaySlice = WebhookReplayRow & { now: number };

const beginSliceAnewStatement = statement((db, param: Param<ReplaySlice>) =>
  db
    .updateTable('webhookDeliveries')
    .set({ ...DUE_AGAIN, dueAt: param('now') })
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
    .returning('id'),
);

/** Makes a batch of the oldest deliveries due again. Returns where to continue, or undefined at the end. */
export async function makeSliceDueAgain(tx: Tx, slice: ReplaySlice): Promise<DeliveryId | undefined> {
  const rows = await beginSliceAnewStatement.all(tx, slice);
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
