/** Stores which addresses of sources are suspended, and which sources the operator has suspended. All SQL of both tables is here, and nothing else writes them. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { OperatorSuspensionRow, SourceSuspensionRow } from '../../db/outbound-tables.ts';
import { deleteRows, findRow, putRow } from '../../db/rows.ts';

/**
 * Maximum number of suspensions that are read: two addresses of each source (config/sources.ts). Rows of sources that are no longer
 * configured are deleted when the daemon probes.
 */
const MAX_SUSPENSIONS = 1_024;

export type Suspension = SourceSuspensionRow;

/** Suspends addresses of a source, or keeps them suspended. Returns true when one of them was not suspended before. */
export const suspendAddresses = defineWrite(
  'sources.suspend',
  async (tx, { suspensions }: { suspensions: readonly Suspension[] }): Promise<boolean> => {
    let isNew = false;
    for (const suspension of suspensions) {
      const { source, address, fingerprint } = suspension;
      const before = await findRow(tx, 'sourceSuspensions', { source, address });
      const isKept = before?.fingerprint === fingerprint;
      isNew ||= !isKept;
      await putRow(tx, 'sourceSuspensions', {
        ...suspension,
        since: isKept ? before.since : suspension.since,
      });
    }
    return isNew;
  },
);

/** Ends suspensions. */
export const resumeAddresses = defineWrite(
  'sources.resume',
  async (tx, { resumed }: { resumed: readonly Pick<Suspension, 'source' | 'address'>[] }): Promise<void> => {
    for (const { source, address } of resumed) await deleteRows(tx, 'sourceSuspensions', { source, address });
  },
);

/** Suspends a source for the operator. */
export const suspendSource = defineWrite(
  'sources.suspendByHand',
  async (tx, suspension: OperatorSuspensionRow): Promise<void> => {
    await putRow(tx, 'operatorSuspensions', suspension);
  },
);

/** Ends all suspensions of a source, also those of its addresses. Returns false when there are none. */
export const resumeSource = defineWrite(
  'sources.resumeByHand',
  async (tx, { source }: { source: string }): Promise<boolean> => {
    const isSuspended = await findRow(tx, 'operatorSuspensions', { source });
    const address = await tx
      .selectFrom('sourceSuspensions')
      .select('address')
      .where('source', '=', source)
      .executeTakeFirst();
    await deleteRows(tx, 'operatorSuspensions', { source });
    await deleteRows(tx, 'sourceSuspensions', { source });
    return isSuspended !== undefined || address !== undefined;
  },
);

/** Returns the suspensions of the operator, also of sources that are no longer configured. */
export function listOperatorSuspensions(tx: Tx): Promise<OperatorSuspensionRow[]> {
  return tx.selectFrom('operatorSuspensions').selectAll().limit(MAX_SUSPENSIONS).execute();
}

/** Returns all suspensions of addresses. */
export function listSuspensions(tx: Tx): Promise<Suspension[]> {
  return tx.selectFrom('sourceSuspensions').selectAll().limit(MAX_SUSPENSIONS).execute();
}
