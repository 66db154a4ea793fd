/** Reads the domains of all tenants for the operator. This module writes nothing. */
import { defineRead, type Tx } from '../db/operation.ts';
import type { DomainStatus } from '../db/tables.ts';
import { isSameOrBelow } from '../mail/domain-names.ts';
import { invalid, notFound } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import { getTenant } from '../tenants/store.ts';
import { findName } from './name.ts';
import { listReceivers } from './receiving/store.ts';
import { type Domain, toDomains } from './store.ts';

/**
 * Returns the domain with this id or name, of the tenant that is named or of any.
 * @throws AppError not_found; validation_error when several tenants have the domain
 */
export async function getNamedDomain(tx: Tx, idOrName: string, tenant: string | undefined): Promise<Domain> {
  const column = isId('dom', idOrName) ? 'id' : 'name';
  const all = tx.selectFrom('domains').selectAll().where('deletedAt', 'is', null);
  const named = all.where(column, '=', column === 'id' ? idOrName : (findName(idOrName) ?? idOrName));
  const owned = tenant === undefined ? named : named.where('tenantId', '=', (await getTenant(tx, tenant)).id);
  const [found, ...others] = await owned.limit(2).execute();
  if (!found) throw notFound('Domain');
  if (others.length > 0)
    throw invalid('tenant', `several tenants have ${idOrName}: name one of them (--tenant)`);
  const [domain] = await toDomains(tx, [found]);
  if (!domain) throw notFound('Domain');
  return domain;
}

/** The tenant is an id or a name. Text that is not a name of a domain matches none. */
type OperatorList = {
  tenant?: string | undefined;
  status?: DomainStatus | undefined;
  name?: string | undefined;
  limit: number;
};

/** Returns the newest domains of the tenant that is named, or of all tenants. */
export async function listDomainsOfAll(
  tx: Tx,
  { tenant, status, name, limit }: OperatorList,
): Promise<Domain[]> {
  let wanted = tx.selectFrom('domains').selectAll().where('deletedAt', 'is', null);
  if (tenant !== undefined) wanted = wanted.where('tenantId', '=', (await getTenant(tx, tenant)).id);
  if (status !== undefined) wanted = wanted.where('status', '=', status);
  if (name !== undefined) wanted = wanted.where('name', '=', findName(name) ?? name);
  return toDomains(tx, await wanted.orderBy('id', 'desc').limit(limit).execute());
}

/** Maximum number of domains that one query names. */
const MAX_IDS = 500;

type InZones = { zones: readonly string[] };

/** Returns the domains inside these zones that are verified, one for each name. `now` is in Unix milliseconds. */
export const listReceiversIn = defineRead(
  'domains.listReceiversIn',
  async (tx, { zones, now }: InZones & { now: number }): Promise<Domain[]> =>
    readIn(tx, zones, await listReceivers(tx, now)),
);

/** Domains by their names in lower case, or by their ids. */
type NamedOrChosen = { names: readonly string[]; ids: readonly Domain['id'][] };

/** Returns those of the domains inside these zones that are there and were never verified. */
export const listUnverifiedIn = defineRead(
  'domains.listUnverifiedIn',
  async (tx, { zones, names, ids }: InZones & NamedOrChosen): Promise<Domain[]> => {
    const found: Pick<Domain, 'id' | 'name'>[] = [];
    for (const [column, all] of [
      ['name', names],
      ['id', ids],
    ] as const)
      for (let start = 0; start < all.length; start += MAX_IDS)
        found.push(
          ...(await tx
            .selectFrom('domains')
            .select(['id', 'name'])
            .where(column, 'in', all.slice(start, start + MAX_IDS))
            .where('deletedAt', 'is', null)
            .where('verifiedAt', 'is', null)
            .execute()),
        );
    return readIn(tx, zones, [...new Map(found.map((one) => [one.id, one])).values()]);
  },
);

/** Returns the deleted domains inside these zones, which stay until no mail needs their keys. */
export const listEndedIn = defineRead(
  'domains.listEndedIn',
  async (tx, { zones }: InZones): Promise<Domain[]> => {
    const ended = tx.selectFrom('domains').select(['id', 'name']).where('deletedAt', 'is not', null);
    return readIn(tx, zones, await ended.execute());
  },
);

async function readIn(
  tx: Tx,
  zones: readonly string[],
  named: readonly Pick<Domain, 'id' | 'name'>[],
): Promise<Domain[]> {
  const ids = named.filter(({ name }) => zones.some((zone) => isSameOrBelow(name, zone))).map(({ id }) => id);
  const domains: Domain[] = [];
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    const part = ids.slice(start, start + MAX_IDS);
    const rows = await tx.selectFrom('domains').selectAll().where('id', 'in', part).execute();
    domains.push(...(await toDomains(tx, rows)));
  }
  return domains;
}
