/**
 * Stores the DKIM keys and selectors of domains beside the RSA key that signs, which is in the row of the domain. All SQL of this table is
 * here, and nothing else writes it. A key is removed with the row of its domain.
 */
import type { Tx } from '../../db/operation.ts';
import { deleteRows, listRows, putRow } from '../../db/rows.ts';
import type { DomainKeyRow, DomainRow } from '../../db/tables.ts';

/** A key as anybody may see it. */
export type DomainKey = Omit<DomainKeyRow, 'domainId' | 'privateKeySealed'>;

/** Returns the keys of one domain, in the order of their selectors. */
export function listKeys(tx: Tx, domainId: DomainRow['id']): Promise<DomainKeyRow[]> {
  return listRows(tx, 'domainKeys', { where: { domainId }, orderBy: 'selector' });
}

/** Returns the sealed keys with which mail of a domain is signed, beside the RSA key. */
export function listSigningKeys(tx: Tx, domainId: DomainRow['id']): Promise<DomainKeyRow[]> {
  return listRows(tx, 'domainKeys', { where: { domainId, state: 'signing' }, orderBy: 'selector' });
}

/** Returns the keys of domains by their ids. A domain without any is missing. */
export async function listKeysOf(
  tx: Tx,
  domainIds: readonly DomainRow['id'][],
): Promise<Map<DomainRow['id'], DomainKey[]>> {
  if (domainIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom('domainKeys')
    .select(['domainId', 'selector', 'algorithm', 'state', 'publicKey', 'since'])
    .where('domainId', 'in', domainIds)
    .orderBy('domainId')
    .orderBy('selector')
    .execute();
  const groups = Map.groupBy(rows, ({ domainId }) => domainId);
  return new Map([...groups].map(([id, keys]) => [id, keys.map(({ domainId: _id, ...key }) => key)]));
}

/** Stores a key, in place of the one with its selector. */
export function putKey(tx: Tx, key: DomainKeyRow): Promise<unknown> {
  return putRow(tx, 'domainKeys', key);
}

/** Removes a key with its selector. */
export function removeKey(tx: Tx, { domainId, selector }: Pick<DomainKeyRow, 'domainId' | 'selector'>) {
  return deleteRows(tx, 'domainKeys', { domainId, selector });
}
