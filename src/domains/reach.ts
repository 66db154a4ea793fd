/**
 * Limits queries to what an API key of one domain reaches. Resources belong to a domain by its id, by its name, or by an address there. The
 * stores of these resources add one of these conditions to each query that serves a caller, so that everything else is not found.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import type { DomainRow } from '../db/tables.ts';
import { AppError, notFound } from '../system/errors.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { findDomainByName } from './sending-store.ts';

type Limit = Pick<Reach, 'domainId'>;
type Condition = RawBuilder<SqlBool>;

const ANY: Condition = sql`1`;

/** Returns the condition that a column holds the id of a domain within reach. */
export function isIdWithin({ domainId }: Limit, column: string): Condition {
  return domainId === null ? ANY : sql`${sql.ref(column)} = ${domainId}`;
}

/** Returns the condition that a column holds the name of a domain within reach. */
export function isNameWithin({ domainId }: Limit, column: string): Condition {
  return domainId === null ? ANY : sql`${sql.ref(column)} = ${nameOf(domainId)}`;
}

/** Returns the condition that a column holds an address at a domain within reach. The domain of the address is in A-labels. */
export function isAddressWithin({ domainId }: Limit, column: string): Condition {
  if (domainId === null) return ANY;
  const end = sql`'@' || ${nameOf(domainId)}`;
  return sql`substr(lower(${sql.ref(column)}), -length(${end})) = ${end}`;
}

/** The name is null once the domain is deleted, and nothing is equal to null. */
function nameOf(domainId: DomainRow['id']) {
  return sql<string>`(SELECT name FROM domains WHERE id = ${domainId} AND "deletedAt" IS NULL)`;
}

/**
 * Returns the id of a domain that a caller asks for.
 * @throws AppError not_found, as for the domain of another tenant
 */
export function requireIdWithin({ domainId }: Limit, id: string): string {
  if (domainId === null || domainId === id) return id;
  throw notFound('Domain');
}

/**
 * Checks that a caller reaches the domain that a request names. The refusal is the same for every other name, whether or not the tenant has
 * such a domain.
 *
 * @param wish.what the thing that the key cannot do there, such as `send from`
 * @throws AppError restricted_api_key
 */
export async function requireReach(
  tx: Tx,
  { tenantId, domainId }: Reach,
  { domain, what, param }: { domain: string; what: string; param: string },
): Promise<void> {
  if (domainId === null) return;
  const own = await findDomainByName(tx, tenantId, domain);
  if (own?.id === domainId) return;
  throw new AppError('restricted_api_key', `This API key cannot ${what} ${domain}`, { param });
}
