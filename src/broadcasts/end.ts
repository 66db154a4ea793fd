/** Ends a broadcast when nobody waits and every copy was tried. Copies that were deferred are still retried. */
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { defineWrite } from '../db/operation.ts';
import { findCounts } from '../ledger/store.ts';
import { deleteUnusedContent } from '../queue/contents/store.ts';
import { changeStatus } from './runs/state.ts';
import { getRun } from './runs/store.ts';
import { findListed } from './store.ts';

type Ending = Pick<BroadcastRunRow, 'broadcastId'> & Pick<BroadcastRow, 'updatedAt'> & { now: number };

/**
 * Ends a broadcast that is complete. Returns true when it has ended. One that was changed since `updatedAt` goes on: when it
 * was paused and resumed, some of its copies may be parked.
 */
export const endBroadcast = defineWrite(
  'broadcasts.end',
  async (tx, { broadcastId, updatedAt, now }: Ending): Promise<boolean> => {
    const broadcast = await findListed(tx, broadcastId);
    if (broadcast?.status !== 'sending' || broadcast.updatedAt !== updatedAt) return false;
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
