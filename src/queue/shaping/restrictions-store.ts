/** Stores the restrictions in force, so that a restart does not offend again. All SQL of their table is here, and nothing else writes it. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { SiteRestrictionRow } from '../../db/queue-tables.ts';
import { deleteRows, putRow } from '../../db/rows.ts';
import type { Restriction } from './restriction.ts';

/** Maximum number of stored restrictions, which are all read at a start. */
export const MAX_RESTRICTIONS = 10_000;

/** Stores a restriction in place of an earlier one of its rule there, and deletes those that have ended. */
export const recordRestriction = defineWrite(
  'queue.recordRestriction',
  async (tx, { restriction, now }: { restriction: Restriction; now: number }): Promise<void> => {
    await tx.deleteFrom('siteRestrictions').where('until', '<=', now).execute();
    await putRow(tx, 'siteRestrictions', rowOf(restriction));
  },
);

/** Deletes a restriction, which the operator has ended. */
export const deleteRestriction = defineWrite(
  'queue.deleteRestriction',
  async (tx, { id }: { id: string }): Promise<void> => {
    await deleteRows(tx, 'siteRestrictions', { id });
  },
);

/** Returns the restrictions in force, those that end last first. */
export async function listRestrictions(tx: Tx, now: number): Promise<Restriction[]> {
  const rows = await tx
    .selectFrom('siteRestrictions')
    .selectAll()
    .where('until', '>', now)
    .orderBy('until', 'desc')
    .limit(MAX_RESTRICTIONS)
    .execute();
  return rows.map(restrictionOf);
}

function rowOf({ lower, tenantId, ...restriction }: Restriction): SiteRestrictionRow {
  return {
    ...restriction,
    tenantId: tenantId as SiteRestrictionRow['tenantId'],
    lowered: lower === null ? null : JSON.stringify(lower),
  };
}

function restrictionOf({ lowered, ...row }: SiteRestrictionRow): Restriction {
  return { ...row, lower: lowered === null ? null : JSON.parse(lowered) };
}
