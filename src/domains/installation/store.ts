/** Stores the keys that sign mail of the installation itself. All SQL of this table is here, and nothing else writes it. */

import { defineWrite, type Tx } from '../../db/operation.ts';
import type { InstallationKeyRow } from '../../db/own-tables.ts';
import { insertRow } from '../../db/rows.ts';

/** Returns the key, or undefined when none was made yet. */
export function findInstallationKey(tx: Tx): Promise<InstallationKeyRow | undefined> {
  return tx.selectFrom('installationKeys').selectAll().orderBy('createdAt').limit(1).executeTakeFirst();
}

/** Stores the key unless there is one, and returns the one that is stored. */
export const insertInstallationKey = defineWrite(
  'domains.insertInstallationKey',
  async (tx, key: InstallationKeyRow): Promise<InstallationKeyRow> => {
    const existing = await findInstallationKey(tx);
    if (existing) return existing;
    await insertRow(tx, 'installationKeys', key);
    return key;
  },
);
