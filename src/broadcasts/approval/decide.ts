/** The decisions about broadcasts that wait for approval. One that is approved is started by the background work, at once or at its time. */
import type { App } from '../../app.ts';
import type { Decision } from '../../approvals/decision-api.ts';
import { type Expiry, endExpired } from '../../approvals/expiry.ts';
import { changedSince, findApproval, getDecidable, settleApproval } from '../../approvals/store.ts';
import type { ApprovalRow } from '../../db/approval-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { getRun, makeRunDue } from '../../ledger/run-store.ts';
import { askForBroadcast } from '../ask.ts';
import { bindTo, readContentHash } from '../bound.ts';
import { changeStatus } from '../runs/state.ts';
import { findListed, getBroadcast, type Owner } from '../store.ts';

type Deciding = Required<Decision> & {
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
 * Approves or declines a broadcast. A declined one is a draft again.
 * @throws AppError not_found, invalid_state
 */
const storeDecision = defineWrite(
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
    else if (broadcast.status === 'scheduled') await changeStatus(tx, broadcast, { cause: 'returned', now });
    return (await findApproval(tx, id)) ?? approval;
  },
  {
    crashPoints: {
      beforeCommit: 'approval-broadcast-before-commit',
      afterCommit: 'approval-broadcast-after-commit',
    },
  },
);

/**
 * Approves or declines a broadcast, and returns its approval.
 * @throws AppError not_found; invalid_state when it does not wait for approval, or is another than was read
 */
export async function decideBroadcast(
  { db, clock, wakeups }: Pick<App, 'db' | 'clock' | 'wakeups'>,
  { tenantId, mode, domainId }: Owner,
  { id, reason = null, ...decision }: Decision & { id: string; decision: Deciding['decision'] },
): Promise<ApprovalRow> {
  const owner = { tenantId, mode, domainId };
  for (;;) {
    const read = await getBroadcast(db.read, owner, id);
    const contentHash = await readContentHash(db.read, read);
    const { updatedAt } = read;
    const given = { owner, ...decision, reason, read: { id: read.id, updatedAt }, contentHash };
    const decided = await db.commit(storeDecision, { ...given, now: clock.now() });
    if (decided === 'changed') continue;
    wakeups.notify('events');
    if (decided === 'asks-again') throw changedSince();
    return decided;
  }
}

/** Makes a broadcast that nobody has approved in time a draft again. */
export const expireBroadcastApproval = defineWrite('broadcasts.expireApproval', (tx, expiry: Expiry) =>
  endExpired(tx, expiry, async ({ reference }) => {
    const broadcast = await findListed(tx, reference as BroadcastRow['id']);
    if (broadcast?.status === 'scheduled')
      await changeStatus(tx, broadcast, { cause: 'returned', now: expiry.now });
  }),
);
