/** Stores the reply that each tenant has chosen for the simulator, at most one. */
import type { SimulatorReplyRow } from '../db/api-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { deleteRows, findRow, putRow } from '../db/rows.ts';

/** A chosen reply, and the recipients that it is for. */
export type SimulatorReply = Omit<SimulatorReplyRow, 'tenantId'>;

/** Returns the reply that the tenant has chosen; undefined when it has chosen none. */
export function findSimulatorReply(
  tx: Tx,
  tenantId: SimulatorReplyRow['tenantId'],
): Promise<SimulatorReply | undefined> {
  return findRow(tx, 'simulatorReplies', { tenantId });
}

/** Stores the reply of a tenant in place of the one before. */
export const setSimulatorReply = defineWrite('simulator.set', (tx, row: SimulatorReplyRow) =>
  putRow(tx, 'simulatorReplies', row),
);

/** Removes the reply of a tenant, if it has one. */
export const deleteSimulatorReply = defineWrite(
  'simulator.delete',
  async (tx, { tenantId }: Pick<SimulatorReplyRow, 'tenantId'>) => {
    await deleteRows(tx, 'simulatorReplies', { tenantId });
  },
);
