/** The write by which a broadcast asks for approval instead of starting. */
import { findApproval } from '../../approvals/store.ts';
import type { ApprovalRow } from '../../db/approval-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { getRun } from '../../ledger/run-store.ts';
import { askForBroadcast, isPlanFree } from '../ask.ts';
import { requireStartable, type StartedFrom } from '../runs/start.ts';
import { changeStatus } from '../runs/state.ts';
import { getBroadcast } from '../store.ts';

/** The states from which a broadcast is sent. */
export const SENDABLE: StartedFrom = ['draft', 'scheduled'];

type Request = {
  /** The broadcast that was checked. */
  read: Pick<BroadcastRow, 'id' | 'tenantId' | 'mode' | 'updatedAt'>;
  contentHash: string;
  keyId: ApprovalRow['keyId'];
  now: number;
};

/**
 * Asks for approval, unless the broadcast was changed since it was read. Returns false then. A time for which approval was asked is given up,
 * and the broadcast is a draft again; any other stays, whatever becomes of the request.
 */
export const storeRequest = defineWrite(
  'broadcasts.requestSending',
  async (tx, { read, contentHash, keyId, now }: Request): Promise<boolean> => {
    const broadcast = await getBroadcast(tx, { ...read, domainId: null }, read.id);
    requireStartable(broadcast, SENDABLE);
    if (broadcast.updatedAt !== read.updatedAt) return false;
    const run = await getRun(tx, broadcast.id);
    if (broadcast.status === 'scheduled' && !isPlanFree(broadcast, await findApproval(tx, broadcast.id)))
      await changeStatus(tx, broadcast, { cause: 'returned', now });
    await askForBroadcast(tx, { broadcast, run, contentHash, keyId, sendAt: null, now });
    return true;
  },
);
