/** Stores which sources are warmed up, and what they have sent on the last day. All SQL of the two tables is here. */
import { defineWrite, type Tx } from '../../../db/operation.ts';
import type { SourceWarmUpCountRow, SourceWarmUpRow } from '../../../db/outbound-tables.ts';
import { deleteRows, findRow, putRow } from '../../../db/rows.ts';

export type WarmUp = SourceWarmUpRow;
export type FirstAttempts = SourceWarmUpCountRow;

/** Starts to warm up a source, or starts again from the first day. */
export const startWarmUp = defineWrite('sources.startWarmUp', async (tx, warmUp: WarmUp): Promise<void> => {
  await putRow(tx, 'sourceWarmUps', warmUp);
});

/** Ends the warm-up of a source. Returns false when there was none. */
export const stopWarmUp = defineWrite(
  'sources.stopWarmUp',
  async (tx, { source }: { source: string }): Promise<boolean> => {
    const isStarted = (await findRow(tx, 'sourceWarmUps', { source })) !== undefined;
    await deleteRows(tx, 'sourceWarmUps', { source });
    await deleteRows(tx, 'sourceWarmUpCounts', { source });
    return isStarted;
  },
);

/** Adds to the counts of a day. Counts of another day end with the first of this one, also when the clock was set back meanwhile. */
export const addFirstAttempts = defineWrite(
  'sources.addFirstAttempts',
  async (tx, { counts }: { counts: readonly FirstAttempts[] }): Promise<void> => {
    for (const { source, provider, day, firstAttempts } of counts) {
      const before = await findRow(tx, 'sourceWarmUpCounts', { source, provider });
      const sum = (before?.day === day ? before.firstAttempts : 0) + firstAttempts;
      await putRow(tx, 'sourceWarmUpCounts', { source, provider, day, firstAttempts: sum });
    }
  },
);

/** Returns the warm-ups of all sources. */
export function listWarmUps(tx: Tx): Promise<WarmUp[]> {
  return tx.selectFrom('sourceWarmUps').selectAll().execute();
}

/** Returns the counts of one day. */
export function listFirstAttempts(tx: Tx, day: number): Promise<FirstAttempts[]> {
  return tx.selectFrom('sourceWarmUpCounts').selectAll().where('day', '=', day).execute();
}
