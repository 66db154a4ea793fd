/** Records events about a broadcast, with the record that lists show. */
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { type EventType, recordEvent } from '../events/store.ts';
import { newId } from '../system/ids.ts';
import { withProgress } from './progress.ts';
import { showBroadcastSummary } from './show.ts';
import { findListed } from './store.ts';

export type BroadcastEventType = Extract<EventType, `broadcast.${string}`>;

/** Records an event about a broadcast as it is now, as part of the write of its change. */
export async function recordBroadcastEvent(
  tx: Tx,
  id: BroadcastRow['id'],
  { type, now }: { type: BroadcastEventType; now: number },
): Promise<void> {
  const broadcast = await findListed(tx, id);
  if (!broadcast) return;
  const { tenantId, mode } = broadcast;
  const data = showBroadcastSummary(await withProgress(tx, broadcast));
  await recordEvent(tx, { id: newId('evt', now), tenantId, mode, type, emailId: null, data, createdAt: now });
}
