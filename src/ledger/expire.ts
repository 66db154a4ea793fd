/** Deletes what became of each contact of a broadcast that ended long ago. The counts of the broadcast stay. */
import type { BroadcastRecipientRow } from '../db/broadcast-tables.ts';
import type { ExpiryRange, ExpirySlice } from '../db/expiry.ts';
import { defineWrite } from '../db/operation.ts';
import { deleteEngagements } from './engagement/store.ts';
import { deleteRows, findEndedWithRows, listRowsAfter } from './store.ts';

type LedgerExpiry = ExpiryRange & {
  /** Time by which a broadcast must have ended, and a contact must have changed last, in Unix milliseconds. */
  endedBy: number;
};

/** Separates the broadcast and the contact that a slice has reached. */
const SEPARATOR = '/';

/**
 * Deletes the next rows of the ledgers of broadcasts that ended at `endedBy` or before, with the opens and clicks of these
 * contacts. A contact whose copy is held, or has changed later, is kept. `after` is '', a broadcast that has been visited to its
 * end, or a broadcast and the contact that was visited last. A slice visits one broadcast.
 */
export const expireLedger = defineWrite(
  'ledger.expire',
  async (tx, { after, before, rows, endedBy }: LedgerExpiry): Promise<ExpirySlice> => {
    const [visitedBroadcast = '', visitedContact] = after.split(SEPARATOR);
    const broadcastId =
      visitedContact === undefined
        ? await findEndedWithRows(tx, { after: visitedBroadcast, before, endedBy })
        : (visitedBroadcast as BroadcastRecipientRow['broadcastId']);
    if (broadcastId === undefined) return { next: undefined, deleted: 0 };
    const visited = await listRowsAfter(tx, { broadcastId, after: visitedContact ?? '', limit: rows });
    const expired = visited
      .filter(({ state, changedAt }) => state !== 'waiting' && state !== 'queued' && changedAt <= endedBy)
      .map(({ contactId }) => contactId);
    if (expired.length > 0) {
      await deleteRows(tx, broadcastId, expired);
      await deleteEngagements(tx, broadcastId, expired);
    }
    const last = visited[rows - 1]?.contactId;
    return {
      next: last === undefined ? broadcastId : `${broadcastId}${SEPARATOR}${last}`,
      deleted: expired.length,
    };
  },
  { priority: 'bulk' },
);
