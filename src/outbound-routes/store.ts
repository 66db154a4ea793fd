/** Stores the routes that the operator sets by the control socket. All SQL of their table is here, and nothing else writes it. */
import { sql } from 'kysely';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { OutboundRouteRow } from '../db/outbound-tables.ts';
import { deleteRows, findRow, putRow } from '../db/rows.ts';
import { statement } from '../db/statement.ts';
import { AppError, limitReached, orNotFound } from '../system/errors.ts';
import type { Authorities, OutboundRoute, Password, Relay, RoutedMail } from './route.ts';

/** Maximum number of stored routes: one for each tenant of a large installation. */
const MAX_STORED_ROUTES = 10_000;

/** The columns in the form in which their index has them: empty for all tenants, and for all domains. */
const TENANT = sql<string>`coalesce("tenantId", '')`;
const DOMAIN = sql<string>`coalesce("domain", '')`;

/**
 * Stores a route, in place of that with its name. A route keeps the time of its creation.
 * @throws AppError already_exists when another route is for the same mail; validation_error when there are too many
 */
export const saveRoute = defineWrite('outboundRoutes.save', async (tx, route: OutboundRouteRow) => {
  const { name, tenantId, domain } = route;
  const before = await findRow(tx, 'outboundRoutes', { name });
  const [other] = await exactRoutes.all(tx, { tenantId: tenantId ?? '', domain: domain ?? '' });
  if (other && other.name !== name)
    throw new AppError('already_exists', `The route "${other.name}" is for the same mail already`);
  if (!before && (await countRoutes(tx)) >= MAX_STORED_ROUTES)
    throw limitReached('routes', MAX_STORED_ROUTES);
  await putRow(tx, 'outboundRoutes', { ...route, createdAt: before?.createdAt ?? route.createdAt });
});

const exactRoutes = statement<RoutedMail, Pick<OutboundRouteRow, 'name'>>((db, param) =>
  db
    .selectFrom('outboundRoutes')
    .select('name')
    .where(TENANT, '=', param('tenantId'))
    .where(DOMAIN, '=', param('domain')),
);

async function countRoutes(tx: Tx): Promise<number> {
  const { count } = await tx
    .selectFrom('outboundRoutes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export type Removed = Pick<OutboundRouteRow, 'tenantId'>;

/**
 * Removes a route, and returns whose it was.
 * @throws AppError not_found
 */
export const removeRoute = defineWrite(
  'outboundRoutes.remove',
  async (tx, { name }: { name: string }): Promise<Removed> => {
    const { tenantId } = orNotFound(await findRow(tx, 'outboundRoutes', { name }), 'Route');
    await deleteRows(tx, 'outboundRoutes', { name });
    return { tenantId };
  },
);

/** A part of the list of routes in the order of their names: those behind `after` whose name contains a text. */
export type RouteList = { name: string; after: string; limit: number };

/** Lists stored routes. */
export async function listStoredRoutes(tx: Tx, { name, after, limit }: RouteList): Promise<OutboundRoute[]> {
  const rows = await tx
    .selectFrom('outboundRoutes')
    .selectAll()
    .where('name', '>', after)
    .where(sql<boolean>`instr(name, ${name}) > 0`)
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(routeOf);
}

/** Returns the stored route with a name. */
export async function findStoredRoute(tx: Tx, name: string): Promise<OutboundRoute | undefined> {
  const row = await findRow(tx, 'outboundRoutes', { name });
  return row && routeOf(row);
}

/** Returns the stored routes of the mail, which are at most four. */
export async function findStoredRoutes(tx: Tx, mail: RoutedMail): Promise<OutboundRoute[]> {
  return (await routesOfMail.all(tx, mail)).map(routeOf);
}

const routesOfMail = statement<RoutedMail, OutboundRouteRow>((db, param) =>
  db
    .selectFrom('outboundRoutes')
    .selectAll()
    .where(TENANT, 'in', ['', param('tenantId')])
    .where(DOMAIN, 'in', ['', param('domain')]),
);

function routeOf(row: OutboundRouteRow): OutboundRoute {
  const { name, tenantId, domain, tlsPolicy } = row;
  return { name, tenantId, domain, relay: relayOf(row), tlsPolicy, source: 'stored' };
}

function relayOf(row: OutboundRouteRow): Relay | null {
  const { name, hosts, port, tls, tlsName, authorities, user, passwordSealed } = row;
  if (hosts === null) return null;
  const password: Password | null =
    passwordSealed === null ? null : { kind: 'sealed', sealed: passwordSealed };
  const trusted: Authorities | null = authorities === null ? null : { kind: 'pem', pem: authorities };
  return {
    route: name,
    hosts: JSON.parse(hosts) as string[],
    port,
    tls,
    tlsName,
    authorities: trusted,
    isPrivate: row.isPrivate === 1,
    login: user === null || password === null ? null : { user, password },
    connections: row.connections,
    recipientsPerMinute: row.recipientsPerMinute,
  };
}
