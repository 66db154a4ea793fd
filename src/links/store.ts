/**
 * Stores the keys of public links. All SQL of this table is here. A key is never deleted, because the links that it
 * sealed are in mail and stay valid for ever.
 */
import type { LinkKeyRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';

/** Returns all keys, the oldest first. */
export function listLinkKeys(tx: Tx): Promise<LinkKeyRow[]> {
  return tx.selectFrom('linkKeys').selectAll().orderBy('createdAt').orderBy('id').execute();
}

/** Stores a key. */
export const insertLinkKey = defineWrite('links.insertKey', async (tx, key: LinkKeyRow): Promise<void> => {
  await tx.insertInto('linkKeys').values(key).execute();
});
