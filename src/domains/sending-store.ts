/** Reads what sending needs to know of a domain: whether it may send, and its signing key. This module writes nothing. */

import type { Tx } from '../db/operation.ts';
import { findColumns } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { DomainKeyRow, DomainRow } from '../db/tables.ts';
import { listSigningKeys } from './keys/store.ts';

/** How mail of a domain is tracked. */
export type TrackingSettings = Pick<
  DomainRow,
  'openTracking' | 'clickTracking' | 'trackingHost' | 'trackingCheckedAt'
>;

type SendingDomain = Pick<DomainRow, 'id' | 'status' | 'failingSince'>;
export type NamedDomain = SendingDomain &
  TrackingSettings &
  Pick<DomainRow, 'returnPathHost' | 'productType'>;

const sendingDomain = statement((db, param: Param<Pick<DomainRow, 'tenantId' | 'name'>>) =>
  db
    .selectFrom('domains')
    .select(['id', 'status', 'failingSince'])
    .select(['openTracking', 'clickTracking', 'trackingHost', 'trackingCheckedAt'])
    .select(['returnPathHost', 'productType'])
    .where('tenantId', '=', param('tenantId'))
    .where('name', '=', param('name'))
    .where('deletedAt', 'is', null),
);

/** Returns the tenant's domain with this name, or undefined. `name` is in lower case and A-labels. */
export function findDomainByName(
  tx: Tx,
  tenantId: DomainRow['tenantId'],
  name: string,
): Promise<NamedDomain | undefined> {
  return sendingDomain.first(tx, { tenantId, name });
}

const sendingDomainById = statement((db, param: Param<Pick<DomainRow, 'id'>>) =>
  db
    .selectFrom('domains')
    .select(['id', 'status', 'failingSince'])
    .where('id', '=', param('id'))
    .where('deletedAt', 'is', null),
);

/** Returns the domain of any tenant, unless it is deleted. The id comes from the spool, never from a caller. */
export function findSendingDomain(tx: Tx, id: DomainRow['id']): Promise<SendingDomain | undefined> {
  return sendingDomainById.first(tx, { id });
}

type SealedKey = Pick<DomainRow, 'tenantId' | 'name' | 'selector' | 'privateKeySealed'> &
  Pick<DomainKeyRow, 'algorithm'>;

/**
 * Returns the keys that sign mail of any tenant's domain, also of a deleted one: Ed25519, then RSA. The id comes from the spool, never from
 * a caller.
 */
export async function findSealedKeys(tx: Tx, id: DomainRow['id']): Promise<SealedKey[]> {
  const main = await findColumns(tx, 'domains', {
    select: ['tenantId', 'name', 'selector', 'privateKeySealed'],
    where: { id },
  });
  if (!main) return [];
  const others = (await listSigningKeys(tx, id)).flatMap(({ selector, algorithm, privateKeySealed }) =>
    privateKeySealed === null ? [] : [{ ...main, selector, algorithm, privateKeySealed }],
  );
  return [...others, { ...main, algorithm: 'rsa' }];
}
