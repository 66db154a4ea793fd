/**
 * The writes that decide about broadcasts which wait for approval. One that is approved is started by the background work, at once or at its
 * time.
 */
import type { Decision } from '../../approvals/decision-api.ts';
import { type Expiry, endExpired } from '../../approvals/expiry.ts';
import { findApproval, getDecidable, settleApproval } from '../../approvals/store.ts';
import type { ApprovalRow } from '../../db/approval-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { getRun, makeRunDue } from '../../ledger/run-store.ts';
import { askForBroadcast } from '../ask.ts';
import { bindTo } from '../bound.ts';
import { changeStatus } from '../runs/state.ts';
import { findListed, getBroadcast, type Owner } from '../store.ts';

export type Deciding = Required<Decision> & {
  owner: Owner;
  decision: 'approved' | 'declined';
  /** The broadcast that was read, with the hash of its content. */
  read: Pick<BroadcastRow, 'id' | 'updatedAt'>;
  contentHash: string;
  now: number;
};

/** `changed`: the broadcast was changed since it was read. `asks-again`: what it names was changed since it has asked for approval. */
type Decided = ApprovalRow | 'changed' | 'asks-again';

/**
 * Approves or declines a broadcast. A declined one is a draft again, unless it is scheduled for a time that needs no approval.
 * @throws AppError not_found, invalid_state
 */
export const storeDecision = defineWrite(
  'broadcasts.decide',
  async (tx, { owner, decision, read, contentHash, by, seen, reason, now }: Deciding): Promise<Decided> => {
    const broadcast = await getBroadcast(tx, owner, read.id);
    if (broadcast.updatedAt !== read.updatedAt) return 'changed';
    const { id, tenantId } = broadcast;
    const approval = await getDecidable(tx, id, { seen, now });
    const { keyId, sendAt, hash } = approval;
    const run = await getRun(tx, id);
    if (decision === 'approved' && hash !== bindTo(contentHash, { pace: run.pace, sendAt })) {
      await askForBroadcast(tx, { broadcast, run, contentHash, keyId, sendAt, now });
      return 'asks-again';
    }
    await settleApproval(tx, approval, { state: decision, by, reason, now });
    if (decision === 'approved')
      await makeRunDue(tx, { broadcastId: id, tenantId }, Math.max(now, sendAt ?? now));
    else await endPlan(tx, broadcast, { sendAt, now });
    return (await findApproval(tx, id)) ?? approval;
  },
  {
    crashPoints: {
      beforeCommit: 'approval-broadcast-before-commit',
      afterCommit: 'approval-broadcast-after-commit',
    },
  },
);

/** Makes a broadcast a draft again whose time was not approved. What was to be sent now keeps its schedule, which needs no approval. */
async function endPlan(
  tx: Tx,
  broadcast: Pick<BroadcastRow, 'id' | 'tenantId' | 'status'>,
  { sendAt, now }: Pick<ApprovalRow, 'sendAt'> & { now: number },
): Promise<void> {
  if (broadcast.status === 'scheduled' && sendAt !== null)
    await changeStatus(tx, broadcast, { cause: 'returned', now });
}

/** Ends the time of a broadcast that nobody has approved. */
export const expireBroadcastApproval = defineWrite('broadcasts.expireApproval', (tx, expiry: Expiry) =>
  endExpired(tx, expiry, async ({ reference, sendAt }) => {
    const broadcast = await findListed(tx, reference as BroadcastRow['id']);
    if (broadcast) await endPlan(tx, broadcast, { sendAt, now: expiry.now });
  }),
);
