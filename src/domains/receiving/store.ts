/**
 * Reads which tenant receives the mail of a domain. Several tenants may verify the same name; its mail goes to the one whose
 * verification has stood longest. When that one lapses or the domain is deleted, the next in this order takes over. This module
 * writes nothing.
 */
import type { Tx } from '../../db/operation.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { DomainRow } from '../../db/tables.ts';
import { domainOfReturnPath } from '../records.ts';
import { earliestGrace } from '../states.ts';

/** The domain of the tenant that receives the mail of a name. */
type ReceivingDomain = Pick<DomainRow, 'id' | 'tenantId' | 'name' | 'productType' | 'failingSince'>;

/**
 * The verification of a row in the index stands, except where its grace period has ended since the last check. Rows that began
 * in the same millisecond are ordered by id, so every caller gets the same one.
 */
const receivingDomain = statement((db, param: Param<{ name: string; earliest: number }>) =>
  db
    .selectFrom('domains')
    .select(['id', 'tenantId', 'name', 'productType', 'failingSince'])
    .where('name', '=', param('name'))
    .where('verifiedSince', 'is not', null)
    .where((where) =>
      where.or([where('failingSince', 'is', null), where('failingSince', '>=', param('earliest'))]),
    )
    .orderBy('verifiedSince')
    .orderBy('id')
    .limit(1),
);

/**
 * Returns the domain that receives mail for the name, or undefined when no tenant receives it. `name` is in lower case and
 * A-labels; `now` is in Unix milliseconds.
 */
export function findReceiver(tx: Tx, name: string, now: number): Promise<ReceivingDomain | undefined> {
  return receivingDomain.first(tx, { name, earliest: earliestGrace(now) });
}

/** Returns all domains that receive mail, one for each name. `now` is in Unix milliseconds. */
export async function listReceivers(tx: Tx, now: number): Promise<ReceivingDomain[]> {
  const standing = await tx
    .selectFrom('domains')
    .select(['id', 'tenantId', 'name', 'productType', 'failingSince'])
    .where('verifiedSince', 'is not', null)
    .where((where) =>
      where.or([where('failingSince', 'is', null), where('failingSince', '>=', earliestGrace(now))]),
    )
    .orderBy('name')
    .orderBy('verifiedSince')
    .orderBy('id')
    .execute();
  return standing.filter(({ name }, index) => name !== standing[index - 1]?.name);
}

/** Returns true while the grace period of a domain that `findReceiver` has found is not over. `now` is in Unix milliseconds. */
export function stillReceives({ failingSince }: Pick<ReceivingDomain, 'failingSince'>, now: number): boolean {
  return failingSince === null || failingSince >= earliestGrace(now);
}

type NamedDomain = Pick<DomainRow, 'id' | 'tenantId' | 'name'>;

const namedDomain = statement((db, param: Param<Pick<DomainRow, 'id'>>) =>
  db
    .selectFrom('domains')
    .select(['id', 'tenantId', 'name'])
    .where('id', '=', param('id'))
    .where('deletedAt', 'is', null),
);

/** Returns the domain of any tenant, unless it is deleted. The id comes from an address to which reports are sent. */
export function findNamedDomain(tx: Tx, id: DomainRow['id']): Promise<NamedDomain | undefined> {
  return namedDomain.first(tx, { id });
}

const returnPathHost = statement((db, param: Param<{ name: string; host: string }>) =>
  db
    .selectFrom('domains')
    .select('id')
    .where('name', '=', param('name'))
    .where('verifiedSince', 'is not', null)
    .where('returnPathHost', '=', param('host'))
    .limit(1),
);

/** Returns true when a verified domain of any tenant has its return paths at this host. `host` is in lower case. */
export async function isReturnPathHost(tx: Tx, host: string): Promise<boolean> {
  const name = domainOfReturnPath(host);
  return name !== undefined && (await returnPathHost.first(tx, { name, host })) !== undefined;
}
