/**
 * Asks for the approval of broadcasts, and for another one when they change. A broadcast that waits stays a draft, or scheduled. Whoever may
 * send without approval can still start it.
 */
import { askForApproval, findApproval, isInForce, withdrawApproval } from '../approvals/store.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { bindTo } from './bound.ts';

/** A broadcast with what it is sent by. `contentHash` is that of bound.ts. */
type Bound = {
  broadcast: Pick<BroadcastRow, 'id' | 'tenantId' | 'mode' | 'status' | 'fromHeader' | 'subject'>;
  run: Pick<BroadcastRunRow, 'pace' | 'domainId'>;
  contentHash: string;
};

type Asking = Bound & Pick<ApprovalRow, 'keyId' | 'sendAt'> & { now: number };

/**
 * Asks for the approval of a broadcast as it is now, unless the same one was asked for already.
 * @throws AppError validation_error when too many wait already
 */
export async function askForBroadcast(
  tx: Tx,
  { broadcast, run: { pace, domainId }, contentHash, keyId, sendAt, now }: Asking,
): Promise<void> {
  const { id: reference, tenantId, mode, fromHeader, subject } = broadcast;
  const hash = bindTo(contentHash, { pace, sendAt });
  const before = await findApproval(tx, reference);
  if (isInForce(before) && before.hash === hash) return;
  const shown = { tenantId, mode, domainId, fromHeader, subject, sendAt };
  await askForApproval(tx, { kind: 'broadcast', reference, hash, keyId, ...shown }, now);
}

type Changed = Omit<Bound, 'run'> & {
  run: Bound['run'] & Pick<BroadcastRunRow, 'scheduleAt'>;
  /** The key that has changed the broadcast, when it requires approval. */
  askedBy: ApprovalRow['keyId'] | null;
  now: number;
};

/**
 * Asks for approval after a broadcast was created or changed, when it is going to be sent and either its author requires approval or it has
 * asked before. A draft is going to be sent once its author has sent it.
 * @throws AppError validation_error when too many wait already
 */
export async function askAfterChange(tx: Tx, { askedBy, ...changed }: Changed): Promise<void> {
  const { broadcast, run, now } = changed;
  const before = await findApproval(tx, broadcast.id);
  const open = isInForce(before) ? before : undefined;
  const keyId = askedBy ?? open?.keyId ?? null;
  const isScheduled = broadcast.status === 'scheduled';
  if (keyId !== null && (isScheduled || open?.sendAt === null))
    await askForBroadcast(tx, { ...changed, keyId, sendAt: isScheduled ? run.scheduleAt : null });
  else await withdrawApproval(tx, broadcast.id, now);
}

/**
 * Returns true when a broadcast may start without a person: it has never asked for approval and is scheduled, or it is as it was approved.
 * One that has changed since, for example because its template has, asks again.
 */
export async function isCleared(tx: Tx, bound: Bound & { now: number }): Promise<boolean> {
  const { broadcast, run, contentHash } = bound;
  const approval = await findApproval(tx, broadcast.id);
  if (!isInForce(approval)) return broadcast.status === 'scheduled';
  if (approval.state === 'pending') return false;
  const { hash, keyId, sendAt } = approval;
  if (hash === bindTo(contentHash, { pace: run.pace, sendAt })) return true;
  await askForBroadcast(tx, { ...bound, keyId, sendAt });
  return false;
}
