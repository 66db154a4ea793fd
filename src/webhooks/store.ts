/**
 * Stores webhook endpoints. All SQL of this table is here, and nothing else writes it. deliveries/store.ts stores
 * deliveries.
 */

import { hasValues } from '../db/has-values.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { deleteRows, insertRow, updateRows } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { isIdWithin } from '../domains/reach.ts';
import { listEventsToFanOut } from '../events/store.ts';
import { limitReached, notFound } from '../system/errors.ts';
import { listWaitingQueues } from '../tasks/store.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { getKeyDomain } from '../tenants/store.ts';
import { REPLAY_TASKS } from './deliveries/replays-store.ts';
import { type EndpointId, endPending, WEBHOOK_TASKS } from './deliveries/store.ts';
import { type Failing, NOT_FAILING } from './posting/suspension.ts';

/** Maximum number of endpoints per tenant, live and test together. */
export const MAX_ENDPOINTS = 50;

type Subscription = Pick<WebhookEndpointRow, 'tenantId' | 'mode'>;
/** A caller, who sees the endpoints of its mode; with a key of one domain, those of that domain. */
export type Owner = Subscription & Reach;

/**
 * Stores a new endpoint.
 * @throws AppError validation_error when the tenant has the maximum number of endpoints, or not this domain
 */
export const insertEndpoint = defineWrite('webhooks.insertEndpoint', async (tx, row: WebhookEndpointRow) => {
  const { count } = await tx
    .selectFrom('webhookEndpoints')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', row.tenantId)
    .executeTakeFirstOrThrow();
  if (count >= MAX_ENDPOINTS) {
    throw limitReached('webhook endpoints (live and test together)', count);
  }
  const { tenantId, domainId } = row;
  if (domainId !== null) await getKeyDomain(tx, tenantId, { param: 'domainId', id: domainId });
  await insertRow(tx, 'webhookEndpoints', row);
});

/**
 * Returns an endpoint.
 * @throws AppError not_found, also for an endpoint of another tenant or mode, or beyond the reach of the key
 */
export async function getEndpoint(tx: Tx, owner: Owner, id: string): Promise<WebhookEndpointRow> {
  return endpointsWithin(tx, owner)
    .where('id', '=', id as EndpointId)
    .executeTakeFirstOrThrow(() => notFound('Webhook endpoint'));
}

/** Returns a page of endpoints, newest first. */
export function listEndpoints(tx: Tx, owner: Owner, page: PageRequest): Promise<Page<WebhookEndpointRow>> {
  return readPage(page, (slice) => inSlice(endpointsWithin(tx, owner), 'id', slice).execute());
}

function endpointsWithin(tx: Tx, owner: Owner) {
  return tx
    .selectFrom('webhookEndpoints')
    .selectAll()
    .where('tenantId', '=', owner.tenantId)
    .where('mode', '=', owner.mode)
    .where(isIdWithin(owner, 'domainId'));
}

type EndpointPatch = Partial<Pick<WebhookEndpointRow, 'url' | 'events' | 'description' | 'status'>>;

/**
 * Changes the named fields and returns the endpoint. Equal values are not a change.
 * @throws AppError not_found
 */
export const changeEndpoint = defineWrite(
  'webhooks.changeEndpoint',
  async (
    tx,
    { owner, id, patch, now }: { owner: Owner; id: string; patch: EndpointPatch; now: number },
  ): Promise<WebhookEndpointRow> => {
    const before = await getEndpoint(tx, owner, id);
    const wanted = { ...patch, ...standing(before, patch, now) };
    const after = hasValues(before, wanted)
      ? before
      : await writeEndpoint(tx, { ...before, ...wanted, updatedAt: now });
    if (after.status === 'disabled') await endPending(tx, after.id, 'disabled');
    return after;
  },
);

type Standing = Pick<WebhookEndpointRow, 'status' | 'disabledReason' | 'disabledAt' | keyof Failing>;

const IN_GOOD_STANDING = {
  status: 'enabled',
  disabledReason: null,
  disabledAt: null,
  ...NOT_FAILING,
} as const satisfies Standing;

/** Clears the failures when the endpoint is enabled, also when it was enabled before, and when its URL changes. */
function standing(before: WebhookEndpointRow, patch: EndpointPatch, now: number): Partial<Standing> {
  if (patch.status === 'enabled') return IN_GOOD_STANDING;
  const moved = patch.url !== undefined && patch.url !== before.url;
  return {
    ...(moved && NOT_FAILING),
    ...(patch.status === 'disabled' &&
      before.status === 'enabled' && { disabledReason: 'manual', disabledAt: now }),
  };
}

async function writeEndpoint(tx: Tx, endpoint: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  const { id, ...columns } = endpoint;
  await updateRows(tx, 'webhookEndpoints', { set: columns, where: { id } });
  return endpoint;
}

type NewSecret = {
  owner: Owner;
  id: string;
  secretSealed: string;
  /** Time in which the previous secret also signs, in milliseconds. */
  overlapMs: number;
  now: number;
};

/**
 * Replaces the secret. A secret that was replaced earlier no longer signs.
 * @throws AppError not_found
 */
export const replaceSecret = defineWrite(
  'webhooks.replaceSecret',
  async (tx, { owner, id, secretSealed, overlapMs, now }: NewSecret): Promise<WebhookEndpointRow> => {
    const before = await getEndpoint(tx, owner, id);
    const overlaps = overlapMs > 0;
    return writeEndpoint(tx, {
      ...before,
      secretSealed,
      previousSecretSealed: overlaps ? before.secretSealed : null,
      previousSecretUntil: overlaps ? now + overlapMs : null,
      updatedAt: now,
    });
  },
);

/** Removes secrets that no longer sign. Returns their number. */
export const forgetPreviousSecrets = defineWrite(
  'webhooks.forgetPreviousSecrets',
  async (tx, { now }: { now: number }): Promise<number> => {
    const { numUpdatedRows } = await tx
      .updateTable('webhookEndpoints')
      .set({ previousSecretSealed: null, previousSecretUntil: null })
      .where('previousSecretUntil', '<=', now)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  },
);

/**
 * Deletes an endpoint.
 * @throws AppError not_found
 */
export const deleteEndpoint = defineWrite(
  'webhooks.deleteEndpoint',
  async (tx, { owner, id }: { owner: Owner; id: string }) => {
    const endpoint = await getEndpoint(tx, owner, id);
    await deleteRows(tx, 'webhookEndpoints', { id: endpoint.id });
    await endPending(tx, endpoint.id, 'deleted');
  },
);

const endpointsOf = statement((db, param: Param<Subscription>) =>
  db
    .selectFrom('webhookEndpoints')
    .select(['id', 'events', 'status', 'domainId'])
    .where('tenantId', '=', param('tenantId'))
    .where('mode', '=', param('mode')),
);

export type Subscriber = Pick<WebhookEndpointRow, 'id' | 'status' | 'domainId'> & {
  events: ReadonlySet<string>;
};

/** Returns all endpoints of a tenant and mode, also disabled ones. */
export async function listSubscribers(tx: Tx, { tenantId, mode }: Subscription): Promise<Subscriber[]> {
  const rows = await endpointsOf.all(tx, { tenantId, mode });
  return rows.map((row) => ({ ...row, events: new Set(JSON.parse(row.events) as string[]) }));
}

const endpointById = statement((db, param: Param<{ id: EndpointId }>) =>
  db
    .selectFrom('webhookEndpoints')
    .select(['id', 'tenantId', 'domainId', 'url', 'status', 'format'])
    .select(['failingSince', 'warnedAt', 'consecutiveFailures', 'suspendedUntil'])
    .select(['secretSealed', 'previousSecretSealed', 'previousSecretUntil'])
    .where('id', '=', param('id')),
);

/** The fields of an endpoint that a post needs. */
export type Receiver = Pick<
  WebhookEndpointRow,
  | 'id'
  | 'tenantId'
  | 'domainId'
  | 'url'
  | 'format'
  | 'secretSealed'
  | 'previousSecretSealed'
  | 'previousSecretUntil'
>;
type EndpointById = Receiver & Pick<WebhookEndpointRow, 'status'> & Failing;

/** Returns the endpoint of any tenant, for the workers. */
export function findEndpoint(tx: Tx, id: EndpointId): Promise<EndpointById | undefined> {
  return endpointById.first(tx, { id });
}

const anyEndpoint = statement((db) => db.selectFrom('webhookEndpoints').select('id').limit(1));

/** Returns true when there is an endpoint, or work that a deleted one has left behind. */
export async function needsWebhooks(tx: Tx): Promise<boolean> {
  if (await anyEndpoint.first(tx, {})) return true;
  if ((await listEventsToFanOut(tx, 1)).length > 0) return true;
  const waiting = [WEBHOOK_TASKS, REPLAY_TASKS].map((kind) =>
    listWaitingQueues(tx, { kind, after: '', limit: 1 }),
  );
  return (await Promise.all(waiting)).some((queues) => queues.length > 0);
}

const clearFailing = statement((db, param: Param<{ id: EndpointId }>) =>
  db
    .updateTable('webhookEndpoints')
    .set(NOT_FAILING)
    .where('id', '=', param('id'))
    .where('failingSince', 'is not', null),
);

/** Records a successful post: it clears the earlier failures and the suspension. */
export async function noteSuccess(tx: Tx, id: EndpointId): Promise<void> {
  await clearFailing.all(tx, { id });
}

/** Records a failed post. */
export async function noteFailing(tx: Tx, failure: Pick<WebhookEndpointRow, 'id'> & Failing): Promise<void> {
  await updateRows(tx, 'webhookEndpoints', {
    set: {
      failingSince: failure.failingSince,
      warnedAt: failure.warnedAt,
      consecutiveFailures: failure.consecutiveFailures,
      suspendedUntil: failure.suspendedUntil,
    },
    where: { id: failure.id },
  });
}

/**
 * Ends the suspension of every endpoint. It runs when the daemon starts, since receivers may have recovered by then, and
 * when the clock was set back, which would make suspensions last longer than they are allowed to.
 */
export const endSuspensions = defineWrite('webhooks.endSuspensions', async (tx: Tx): Promise<void> => {
  await tx
    .updateTable('webhookEndpoints')
    .set({ suspendedUntil: null })
    .where('suspendedUntil', 'is not', null)
    .execute();
});

/** Disables an endpoint on behalf of the service. Its pending deliveries are skipped. */
export async function disableEndpoint(
  tx: Tx,
  { id, reason, now }: { id: EndpointId; reason: 'failures' | 'gone'; now: number },
): Promise<void> {
  await updateRows(tx, 'webhookEndpoints', {
    set: { status: 'disabled', disabledReason: reason, disabledAt: now, updatedAt: now },
    where: { id },
  });
  await endPending(tx, id, 'disabled');
}
