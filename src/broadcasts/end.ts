/** Ends a broadcast when nobody waits and every copy was tried. Copies that were deferred are still retried. */
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import { defineWrite } from '../db/operation.ts';
import { findBroadcastStatus, findCounts } from '../ledger/store.ts';
import { deleteUnusedContent } from '../queue/contents/store.ts';
import { changeStatus } from './runs/state.ts';
import { getRun } from './runs/store.ts';

type Ending = { broadcastId: BroadcastRunRow['broadcastId']; now: number };

/** Ends a broadcast that is complete. Returns true when it has ended. */
export const endBroadcast = defineWrite(
  'broadcasts.end',
  async (tx, { broadcastId, now }: Ending): Promise<boolean> => {
    if ((await findBroadcastStatus(tx, broadcastId)) !== 'sending') return false;
    const { walkedAt, contentId } = await getRun(tx, broadcastId);
    const counts = await findCounts(tx, broadcastId);
    if (walkedAt === null || !counts || counts.waiting > 0 || counts.untried > 0) return false;
    await changeStatus(tx, { id: broadcastId, status: 'sending' }, { cause: 'ended', now });
    // A broadcast without copies leaves its content behind.
    if (contentId !== null) await deleteUnusedContent(tx, contentId);
    return true;
  },
  { crashPoints: { beforeCommit: 'broadcast-end-before-commit' } },
);
