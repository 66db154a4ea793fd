/** Reads the tracked links of a broadcast with their clicks. The database threads load it too, so it imports no schemas. */
import type { BroadcastLinkRow } from '../../db/broadcast-tables.ts';
import type { Tx } from '../../db/operation.ts';
import type { TrackedLinkRow } from '../../db/tracking-tables.ts';
import { listLinkClicks } from '../../ledger/engagement/store.ts';
import { listTargets } from '../../tracking/links/store.ts';

/** A tracked link of a broadcast. Clicks by machines are counted apart. */
export type ClickedLink = Pick<TrackedLinkRow, 'number' | 'url'> &
  Pick<BroadcastLinkRow, 'clicks' | 'uniqueClicks' | 'machineClicks'>;

const NO_CLICKS = { clicks: 0, uniqueClicks: 0, machineClicks: 0 };

/** Returns all tracked links of a broadcast in the order of its HTML, those without clicks included. */
export async function listClickedLinks(
  tx: Tx,
  broadcastId: BroadcastLinkRow['broadcastId'],
): Promise<ClickedLink[]> {
  const clicks = new Map((await listLinkClicks(tx, broadcastId)).map((row) => [row.number, row]));
  return (await listTargets(tx, broadcastId)).map(({ number, url }) => {
    const { clicks: all, uniqueClicks, machineClicks } = clicks.get(number) ?? NO_CLICKS;
    return { number, url, clicks: all, uniqueClicks, machineClicks };
  });
}
