/** The write by which a broadcast asks for approval instead of starting. */
import type { ApprovalRow } from '../../db/approval-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { getRun } from '../../ledger/run-store.ts';
import { askForBroadcast } from '../ask.ts';
import { requireStartable, type StartedFrom } from '../runs/start.ts';
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

/** Asks for approval, unless the broadcast was changed since it was read. Returns false then. */
export const storeRequest = defineWrite(
  'broadcasts.requestSending',
  async (tx, { read, contentHash, keyId, now }: Request): Promise<boolean> => {
    const broadcast = await getBroadcast(tx, { ...read, domainId: null }, read.id);
    requireStartable(broadcast, SENDABLE);
    if (broadcast.updatedAt !== read.updatedAt) return false;
    const run = await getRun(tx, broadcast.id);
    await askForBroadcast(tx, { broadcast, run, contentHash, keyId, sendAt: null, now });
    return true;
  },
);
