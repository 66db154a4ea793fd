/**
 * Finds the addresses that marketing mail must not be sent to because their reader has not confirmed. This module writes
 * nothing.
 */
import { sql } from 'kysely';
import type { ContactRow } from '../../db/marketing-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { addressKey } from '../../mail/address.ts';

type Key = Pick<ContactRow, 'tenantId' | 'address'>;

/** The condition is literal, because SQLite uses the partial index `contactsPending` only when it can see it. */
const pending = statement((db, param: Param<Key>) =>
  db
    .selectFrom('contacts')
    .innerJoin('audiences', 'audiences.id', 'contacts.audienceId')
    .select('contacts.id')
    .where('contacts.tenantId', '=', constant(param('tenantId')))
    .where('contacts.address', '=', constant(param('address')))
    .where(sql<boolean>`contacts.pending = 1`)
    .where('audiences.deletedAt', 'is', null)
    .limit(sql.lit(1)),
);

const confirmed = statement((db, param: Param<Key>) =>
  db
    .selectFrom('contacts')
    .innerJoin('audiences', 'audiences.id', 'contacts.audienceId')
    .select('contacts.id')
    .where('contacts.tenantId', '=', constant(param('tenantId')))
    .where('contacts.address', '=', constant(param('address')))
    .where('contacts.pending', '=', sql.lit(0))
    .where('audiences.deletedAt', 'is', null)
    .limit(sql.lit(1)),
);

/**
 * Returns the unconfirmed addresses, each as its `addressKey`. An address is unconfirmed when it belongs to a pending contact
 * and to no other: a form of one audience must not stop the mail of another. Most addresses take one look into an index
 * that has pending contacts alone.
 */
export async function findUnconfirmed(
  tx: Tx,
  tenantId: ContactRow['tenantId'],
  addresses: readonly string[],
): Promise<Set<string>> {
  const unconfirmed = new Set<string>();
  for (const address of new Set(addresses.map(addressKey))) {
    const key = { tenantId, address };
    if ((await pending.first(tx, key)) && !(await confirmed.first(tx, key))) unconfirmed.add(address);
  }
  return unconfirmed;
}
