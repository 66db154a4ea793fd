/**
 * Asks for the approval of broadcasts, and for another one when they change. A broadcast that waits stays a draft, or scheduled. Whoever may
 * send without approval can still start it.
 */
import {
  askForApproval,
  findApproval,
  isInForce,
  requireRoom,
  withdrawApproval,
} from '../approvals/store.ts';
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
 * @throws AppError quota_exceeded when too many wait already
 */
export async function askForBroadcast(
  tx: Tx,
  { broadcast, run: { pace, domainId }, contentHash, keyId, sendAt, now }: Asking,
): Promise<void> {
  const { id: reference, tenantId, mode, fromHeader, subject } = broadcast;
  const hash = bindTo(contentHash, { pace, sendAt });
  const before = await findApproval(tx, reference);
  if (!isInForce(before)) await requireRoom(tx, broadcast);
  else if (before.hash === hash) return;
  const shown = { tenantId, mode, domainId, fromHeader, subject, sendAt };
  await askForApproval(tx, { kind: 'broadcast', reference, hash, keyId, ...shown }, now);
}

/**
 * Returns true when the daemon may send a broadcast at its scheduled time without an approval. A request to send it now instead does not take
 * that time away, because `storeRequest` ends each other schedule.
 */
export function isPlanFree(
  { status }: Pick<BroadcastRow, 'status'>,
  approval: Pick<ApprovalRow, 'state' | 'sendAt'> | undefined,
): boolean {
  const isAboutPlan = isInForce(approval) && approval.sendAt !== null;
  return status === 'scheduled' && !isAboutPlan;
}

type Scheduled = Omit<Bound, 'run'> & {
  run: Bound['run'] & Pick<BroadcastRunRow, 'scheduleAt'>;
  now: number;
};

type Changed = Scheduled & {
  /** Status before the change; a new broadcast was a draft. */
  statusBefore: BroadcastRow['status'];
  /** The key that has changed the broadcast, when it requires approval. */
  askedBy: ApprovalRow['keyId'] | null;
};

/**
 * Asks for approval after a broadcast was created or changed, when it is going to be sent and either its author requires approval or it has
 * asked before. A draft is going to be sent once its author has sent it. What others have scheduled without an approval stays so when they
 * change it, and a request to send it now asks again.
 * @throws AppError quota_exceeded when too many wait already
 */
export async function askAfterChange(tx: Tx, { askedBy, statusBefore, ...changed }: Changed): Promise<void> {
  const { broadcast, run, now } = changed;
  const before = await findApproval(tx, broadcast.id);
  const open = isInForce(before) ? before : undefined;
  const keyId = askedBy ?? open?.keyId ?? null;
  const isScheduled = broadcast.status === 'scheduled';
  const wasFree = isPlanFree({ status: statusBefore }, before);
  const needsPlan = isScheduled && (askedBy !== null || !wasFree);
  if (keyId !== null && (needsPlan || open?.sendAt === null))
    await askForBroadcast(tx, { ...changed, keyId, sendAt: needsPlan ? run.scheduleAt : null });
  else await withdrawApproval(tx, broadcast.id, now);
}

/**
 * Returns true when a broadcast may start without a person: it is as it was approved, or due at a time that needs no approval, which ends a
 * request to send it earlier. One that has changed since it was approved, for example because its template has, asks again.
 */
export async function isCleared(tx: Tx, bound: Scheduled): Promise<boolean> {
  const { broadcast, run, contentHash, now } = bound;
  const approval = await findApproval(tx, broadcast.id);
  const given = approval?.state === 'approved' ? approval : undefined;
  if (given?.hash === bindTo(contentHash, { pace: run.pace, sendAt: given?.sendAt ?? null })) return true;
  if (isPlanFree(broadcast, approval) && run.scheduleAt !== null && run.scheduleAt <= now) {
    await withdrawApproval(tx, broadcast.id, now);
    return true;
  }
  if (given) await askForBroadcast(tx, { ...bound, keyId: given.keyId, sendAt: given.sendAt });
  return false;
}
