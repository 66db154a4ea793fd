/**
 * Stores inbound routes. All SQL of this table is here, and nothing else writes it. Live and test keys share routes.
 *
 * A route needs a verified domain when it is created or moved to another address. It then stays, whatever happens to
 * the domain: mail is accepted only for verified domains, so without one the route has nothing to forward. A domain
 * that is deleted and added again, or that is verified again, finds its routes unchanged, with the secrets that their
 * receivers know.
 */

import type { InboundRouteRow } from '../../db/inbound-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import { findDomainByName } from '../../domains/sending/store.ts';
import { maySend } from '../../domains/states.ts';
import { AppError, limitReached, notFound } from '../../system/errors.ts';
import type { RouteAddress } from './address.ts';

/** Maximum number of routes per tenant. Our own limit. */
export const MAX_ROUTES = 1_000;

type TenantId = InboundRouteRow['tenantId'];

/**
 * Stores a new route.
 * @throws AppError domain_not_verified; already_exists with `details.id`; validation_error when the tenant has the
 * maximum number of routes
 */
export const insertRoute = defineWrite('inbound.insertRoute', async (tx, route: InboundRouteRow) => {
  await requireVerified(tx, route, route.createdAt);
  await requireFree(tx, route.tenantId, route.address);
  await requireRouteLimit(tx, route.tenantId);
  await tx.insertInto('inboundRoutes').values(route).execute();
});

/**
 * Returns a route.
 * @throws AppError not_found, also for the route of another tenant
 */
export async function getRoute(tx: Tx, tenantId: TenantId, id: string): Promise<InboundRouteRow> {
  const route = await routesOf(tx, tenantId)
    .where('id', '=', id as InboundRouteRow['id'])
    .executeTakeFirst();
  if (!route) throw notFound('Inbound route');
  return route;
}

type RouteFilter = Partial<Pick<InboundRouteRow, 'address' | 'domain'>>;

/** Returns a page of routes, newest first. */
export function listRoutes(
  tx: Tx,
  tenantId: TenantId,
  { address, domain, ...page }: RouteFilter & PageRequest,
): Promise<Page<InboundRouteRow>> {
  let routes = routesOf(tx, tenantId);
  if (address !== undefined) routes = routes.where('address', '=', address);
  if (domain !== undefined) routes = routes.where('domain', '=', domain);
  return readPage(page, (slice) => inSlice(routes, 'id', slice).execute());
}

export type RouteChange = Partial<RouteAddress & Pick<InboundRouteRow, 'destination' | 'enabled'>>;

/**
 * Changes the named fields of a route, and returns it. Equal values are not a change.
 * @throws AppError not_found; the errors of `insertRoute` when the address changes
 */
export const changeRoute = defineWrite(
  'inbound.changeRoute',
  async (
    tx,
    { tenantId, id, change, now }: { tenantId: TenantId; id: string; change: RouteChange; now: number },
  ): Promise<InboundRouteRow> => {
    const before = await getRoute(tx, tenantId, id);
    const isSame = (Object.keys(change) as (keyof RouteChange)[]).every(
      (field) => change[field] === before[field],
    );
    if (isSame) return before;
    const after = { ...before, ...change, updatedAt: now };
    if (after.address !== before.address) {
      await requireVerified(tx, after, now);
      await requireFree(tx, tenantId, after.address);
    }
    const { id: _, ...columns } = after;
    await tx.updateTable('inboundRoutes').set(columns).where('id', '=', before.id).execute();
    return after;
  },
);

/**
 * Deletes a route.
 * @throws AppError not_found
 */
export const deleteRoute = defineWrite(
  'inbound.deleteRoute',
  async (tx, { tenantId, id }: { tenantId: TenantId; id: string }) => {
    const route = await getRoute(tx, tenantId, id);
    await tx.deleteFrom('inboundRoutes').where('id', '=', route.id).execute();
  },
);

/**
 * Checks that exactly this domain is verified. A verified parent domain is not enough.
 * @throws AppError domain_not_verified
 */
async function requireVerified(
  tx: Tx,
  { tenantId, domain }: Pick<InboundRouteRow, 'tenantId' | 'domain'>,
  now: number,
): Promise<void> {
  const found = await findDomainByName(tx, tenantId, domain);
  if (found && maySend(found, now)) return;
  throw new AppError(
    'domain_not_verified',
    found
      ? `The domain ${domain} is not verified; publish its DNS records, then POST /v1/domains/${found.id}/verify`
      : `The domain ${domain} is not one of yours; add it with POST /v1/domains, then publish its DNS records`,
    { param: 'address' },
  );
}

async function requireFree(tx: Tx, tenantId: TenantId, address: string): Promise<void> {
  const existing = await routesOf(tx, tenantId).where('address', '=', address).executeTakeFirst();
  if (!existing) return;
  throw new AppError('already_exists', `An inbound route for ${address} exists already`, {
    param: 'address',
    details: { id: existing.id },
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

function routesOf(tx: Tx, tenantId: TenantId) {
  return tx.selectFrom('inboundRoutes').selectAll().where('tenantId', '=', tenantId);
}
