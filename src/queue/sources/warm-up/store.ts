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

type Place = Pick<FirstAttempts, 'source' | 'provider' | 'day'>;

/** Returns the number of first attempts on a day. */
export async function countOn(tx: Tx, { source, provider, day }: Place): Promise<number> {
  const counted = await findRow(tx, 'sourceWarmUpCounts', { source, provider });
  return counted?.day === day ? counted.firstAttempts : 0;
}

/** Sets the number of first attempts on a day. That of another day ends, also when the clock was set back meanwhile. */
export async function putCount(tx: Tx, count: FirstAttempts): Promise<void> {
  await putRow(tx, 'sourceWarmUpCounts', count);
}

/** Returns the warm-ups of all sources. */
export function listWarmUps(tx: Tx): Promise<WarmUp[]> {
  return tx.selectFrom('sourceWarmUps').selectAll().execute();
}

/** Returns the counts of one day. */
export function listFirstAttempts(tx: Tx, day: number): Promise<FirstAttempts[]> {
  return tx.selectFrom('sourceWarmUpCounts').selectAll().where('day', '=', day).execute();
}
