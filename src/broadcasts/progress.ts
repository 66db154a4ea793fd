/** Adds to broadcasts what their runs and ledgers say. */
import type { BroadcastCountsRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findCounts } from '../ledger/store.ts';
import { findRun } from './runs/store.ts';

/** The run of a broadcast, null before it is scheduled or started, and its counts, null before it starts. */
type Progress = { run: BroadcastRunRow | null; counts: BroadcastCountsRow | null };

/** Returns a broadcast with its progress. */
export async function withProgress<Row extends Pick<BroadcastRow, 'id'>>(
  tx: Tx,
  broadcast: Row,
): Promise<Row & Progress> {
  const { id } = broadcast;
  const [run, counts] = [await findRun(tx, id), await findCounts(tx, id)];
  return { ...broadcast, run: run ?? null, counts: counts ?? null };
}
