/**
 * Stores inbound routes. All SQL of this table is here, and nothing else writes it. Live and test keys share routes.
 *
 * A route needs a verified domain when it is created or moved to another address. It then stays, whatever happens to
 * the domain: mail is accepted only for verified domains, so without one the route has nothing to forward. A domain
 * that is deleted and added again, or that is verified again, finds its routes unchanged, with the secrets that their
 * receivers know. The same holds when another tenant comes to receive the mail of the name: the routes get no mail, and get it
 * again once their tenant receives it.
 *
 * The sandbox domain is shared by all tenants and needs no verification. An address there belongs to the first tenant that has a
 * route for it.
 */

import { hasValues } from '../db/has-values.ts';
import type { InboundRouteRow } from '../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { deleteRows, findColumns, findRow, insertRow, updateRows } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { Mode } from '../db/tables.ts';
import { isNameWithin } from '../domains/reach.ts';
import { requireNoOtherReceiver, requireReceivingDomain } from '../domains/receiving/requirements.ts';
import { requireChangeable } from '../domains/test-keys.ts';
import { POST_TASKS } from '../inbound/tasks/store.ts';
import { withoutTag } from '../mail/address.ts';
import { findAddressOwner } from '../mailboxes/addresses/store.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import { listWaitingQueues } from '../tasks/store.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { type Failing, NOT_FAILING } from '../webhooks/posting/suspension.ts';
import type { RouteAddress } from './address.ts';

/** Maximum number of routes per tenant. */
export const MAX_ROUTES = 1_000;

export type RouteId = InboundRouteRow['id'];
type TenantId = InboundRouteRow['tenantId'];

/** `sandbox` is the sandbox domain, and `now` is in Unix milliseconds. */
type Moment = { sandbox: string; now: number };

/**
 * Stores a new route.
 * @throws AppError domain_not_verified; domain_in_use when another tenant receives the mail of the domain; already_exists, with
 * `details.id` when the tenant owns the existing route; validation_error when the tenant has the maximum number of routes
 */
export const insertRoute = defineWrite(
  'inbound.insertRoute',
  async (tx, { route, sandbox }: { route: InboundRouteRow } & Pick<Moment, 'sandbox'>) => {
    await requireAddress(tx, route, { sandbox, now: route.createdAt });
    await requireRouteLimit(tx, route.tenantId);
    await insertRow(tx, 'inboundRoutes', route);
  },
);

/**
 * Returns a route.
 * @throws AppError not_found, also for the route of another tenant, or beyond the reach of the key
 */
export async function getRoute(tx: Tx, reach: Reach, id: string): Promise<InboundRouteRow> {
  return routesWithin(tx, reach)
    .where('id', '=', id as InboundRouteRow['id'])
    .executeTakeFirstOrThrow(() => notFound('Inbound route'));
}

type RouteFilter = Partial<Pick<InboundRouteRow, 'address' | 'domain'>>;

/** Returns a page of routes, newest first. */
export function listRoutes(
  tx: Tx,
  reach: Reach,
  { address, domain, ...page }: RouteFilter & PageRequest,
): Promise<Page<InboundRouteRow>> {
  let routes = routesWithin(tx, reach);
  if (address !== undefined) routes = routes.where('address', '=', address);
  if (domain !== undefined) routes = routes.where('domain', '=', domain);
  return readPage(page, (slice) => inSlice(routes, 'id', slice).execute());
}

export type RouteChange = Partial<RouteAddress & Pick<InboundRouteRow, 'destination' | 'enabled'>>;

/** A caller that changes routes. A test key changes those at the sandbox domain alone. */
export type Changer = Reach & { mode: Mode; sandbox: string };

type Change = { by: Changer; id: string; change: RouteChange; now: number };

/**
 * Changes the named fields of a route, and returns it. Equal values are not a change.
 * @throws AppError not_found, restricted_api_key; the errors of `insertRoute` when the address changes; domain_in_use when a route is enabled whose
 * mail another tenant receives
 */
export const changeRoute = defineWrite(
  'inbound.changeRoute',
  async (tx, { by, id, change, now }: Change): Promise<InboundRouteRow> => {
    const before = await getChangeable(tx, by, id);
    const wanted = { ...change, ...standing(before, change, now) };
    if (hasValues(before, wanted)) return before;
    const after = { ...before, ...wanted, updatedAt: now };
    if (after.address !== before.address) await requireAddress(tx, after, { sandbox: by.sandbox, now });
    else if (after.enabled === 1 && before.enabled === 0)
      await requireNoOtherReceiver(tx, after, { what: 'route', now });
    const { id: _, ...columns } = after;
    await updateRows(tx, 'inboundRoutes', { set: columns, where: { id: before.id } });
    return after;
  },
);

type Standing = Pick<InboundRouteRow, 'disabledReason' | 'disabledAt'> & Failing;

/** The fields of a route that is enabled and has not failed. */
export const IN_GOOD_STANDING = {
  disabledReason: null,
  disabledAt: null,
  ...NOT_FAILING,
} as const satisfies Standing;

/** Clears the failures when the route is enabled, also when it was enabled before, and when its destination changes. */
function standing(
  before: InboundRouteRow,
  { enabled, destination }: RouteChange,
  now: number,
): Partial<Standing> {
  if (enabled === 1) return IN_GOOD_STANDING;
  const hasMoved = destination !== undefined && destination !== before.destination;
  return {
    ...(hasMoved && NOT_FAILING),
    ...(enabled === 0 && before.enabled === 1 && { disabledReason: 'manual' as const, disabledAt: now }),
  };
}

/**
 * Deletes a route.
 * @throws AppError not_found, restricted_api_key
 */
export const deleteRoute = defineWrite(
  'inbound.deleteRoute',
  async (tx, { by, id }: { by: Changer; id: string }) => {
    const route = await getChangeable(tx, by, id);
    await deleteRows(tx, 'inboundRoutes', { id: route.id });
  },
);

/**
 * Returns a route that the caller may change.
 * @throws AppError not_found, restricted_api_key
 */
async function getChangeable(tx: Tx, by: Changer, id: string): Promise<InboundRouteRow> {
  const route = await getRoute(tx, by, id);
  requireChangeable(by.mode, { domain: route.domain, sandbox: by.sandbox });
  return route;
}

type OwnedAddress = Pick<InboundRouteRow, 'tenantId' | 'domain' | 'address'>;

/**
 * Checks that the tenant may have a route for the address.
 * @throws AppError domain_not_verified, domain_in_use, already_exists
 */
async function requireAddress(tx: Tx, owned: OwnedAddress, { sandbox, now }: Moment): Promise<void> {
  if (owned.domain === sandbox) return requireFreeInSandbox(tx, owned);
  await requireReceivingDomain(tx, owned, { what: 'route', now });
  await requireFree(tx, owned);
}

async function requireFree(tx: Tx, { tenantId, address }: OwnedAddress): Promise<void> {
  const existing = await routesOf(tx, tenantId).where('address', '=', address).executeTakeFirst();
  if (existing) throw alreadyExists(address, { id: existing.id });
}

/**
 * Checks that no tenant has a route for the address, and no other tenant a mailbox whose mail the route would get. Their ids are not
 * shown.
 */
async function requireFreeInSandbox(tx: Tx, owned: OwnedAddress): Promise<void> {
  await requireFree(tx, owned);
  const { address, domain, tenantId } = owned;
  const name = withoutTag(address.slice(0, -`@${domain}`.length));
  for (const one of [address, ...(name === undefined ? [] : [`${name}@${domain}`])]) {
    const owner = await findAddressOwner(tx, one);
    if (owner && owner.tenantId !== tenantId) throw alreadyExists(address);
  }
  const foreign = await findColumns(tx, 'inboundRoutes', { select: ['id'], where: { address } });
  if (foreign) throw alreadyExists(address);
}

function alreadyExists(address: string, details?: { id: InboundRouteRow['id'] }): AppError {
  return new AppError('already_exists', `An inbound route for ${address} exists already`, {
    param: 'address',
    ...(details && { details }),
  });
}

async function requireRouteLimit(tx: Tx, tenantId: TenantId): Promise<void> {
  const { count } = await routesOf(tx, tenantId)
    .clearSelect()
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count < MAX_ROUTES) return;
  throw limitReached('inbound routes', count);
}

type FoundRoute = Pick<InboundRouteRow, 'id' | 'tenantId'>;

const enabledRoutes = statement((db, param: Param<Pick<InboundRouteRow, 'tenantId'>>) =>
  db
    .selectFrom('inboundRoutes')
    .select(['id', 'address'])
    .where('tenantId', '=', param('tenantId'))
    .where('enabled', '=', 1),
);

/** Returns the enabled routes of the tenant by their addresses, which are in lower case. There are at most `MAX_ROUTES`. */
export async function mapRoutes(tx: Tx, tenantId: TenantId): Promise<ReadonlyMap<string, RouteId>> {
  const routes = await enabledRoutes.all(tx, { tenantId });
  return new Map(routes.map(({ address, id }) => [address, id]));
}

/** Returns the enabled route of any tenant for an address of the sandbox domain, where no two tenants have the same. */
export function findSharedRoute(tx: Tx, address: string): Promise<FoundRoute | undefined> {
  return findColumns(tx, 'inboundRoutes', { select: ['id', 'tenantId'], where: { address, enabled: 1 } });
}

function routesWithin(tx: Tx, reach: Reach) {
  return routesOf(tx, reach.tenantId).where(isNameWithin(reach, 'domain'));
}

function routesOf(tx: Tx, tenantId: TenantId) {
  return tx.selectFrom('inboundRoutes').selectAll().where('tenantId', '=', tenantId);
}

/** Returns the route of any tenant, for the worker. */
export function findRouteById(tx: Tx, id: RouteId): Promise<InboundRouteRow | undefined> {
  return findRow(tx, 'inboundRoutes', { id });
}

const anyRoute = statement((db) => db.selectFrom('inboundRoutes').select('id').limit(1));

/** Returns true when there is a route, or a post that waits for one that was deleted. */
export async function needsPosts(tx: Tx): Promise<boolean> {
  if (await anyRoute.first(tx, {})) return true;
  return (await listWaitingQueues(tx, { kind: POST_TASKS, after: '', limit: 1 })).length > 0;
}

const clearFailing = statement((db, param: Param<{ id: RouteId }>) =>
  db
    .updateTable('inboundRoutes')
    .set(NOT_FAILING)
    .where('id', '=', param('id'))
    .where('failingSince', 'is not', null),
);

/** Records a successful post: it clears the earlier failures and the suspension. */
export async function noteRouteSuccess(tx: Tx, id: RouteId): Promise<void> {
  await clearFailing.all(tx, { id });
}

/** Records a failed post. */
export async function noteRouteFailing(tx: Tx, failure: { id: RouteId } & Failing): Promise<void> {
  await updateRows(tx, 'inboundRoutes', {
    set: {
      failingSince: failure.failingSince,
      warnedAt: failure.warnedAt,
      consecutiveFailures: failure.consecutiveFailures,
      suspendedUntil: failure.suspendedUntil,
    },
    where: { id: failure.id },
  });
}

/** Disables a route on behalf of the service. */
export async function disableRoute(
  tx: Tx,
  { id, reason, now }: { id: RouteId; reason: 'failures' | 'gone'; now: number },
): Promise<void> {
  await updateRows(tx, 'inboundRoutes', {
    set: { enabled: 0, disabledReason: reason, disabledAt: now, updatedAt: now },
    where: { id },
  });
}

/** Ends the suspension of every route, for the same reasons as `webhooks/store.ts`. */
export const endRouteSuspensions = defineWrite(
  'inbound.endRouteSuspensions',
  async (tx: Tx): Promise<void> => {
    await tx
      .updateTable('inboundRoutes')
      .set({ suspendedUntil: null })
      .where('suspendedUntil', 'is not', null)
      .execute();
  },
);
