/** The task that ends an approval which nobody has decided in time. The feature that owns the mail says what becomes of it. */
import type { App } from '../app.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { Tx, Write } from '../db/operation.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import { completeTask, type Lease, retryTask, type TaskEnd } from '../tasks/store.ts';
import { EXPIRY_TASKS, findApprovalById, settleApproval } from './store.ts';

/** Maximum number of approvals of a kind that expire at the same time. */
const CONCURRENCY = 2;
/** Pause after an expiry that failed, for example because the disk is full, in milliseconds. */
const PAUSE_AFTER_ERROR_MS = 5_000;

/** A run of the task: `now` is in Unix milliseconds. */
export type Expiry = { lease: Lease; now: number };

/** Ends an approval that is still pending when its time is over, as a write. `end` changes the mail that nobody has approved. */
export async function endExpired(
  tx: Tx,
  { lease, now }: Expiry,
  end: (approval: ApprovalRow) => Promise<void>,
): Promise<TaskEnd> {
  const approval = await findApprovalById(tx, lease.reference);
  if (approval?.state !== 'pending') return completeTask.run(tx, lease);
  const { expiresAt } = approval;
  if (expiresAt > now) return retryTask.run(tx, { lease, dueAt: expiresAt, attempts: 0 });
  await settleApproval(tx, approval, { state: 'expired', now });
  await end(approval);
  return completeTask.run(tx, lease);
}

/** Returns the kind of task that runs such a write. */
export function createExpiryKind(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  kind: ApprovalRow['kind'],
  write: Write<Expiry, TaskEnd>,
): TaskKind {
  return {
    name: EXPIRY_TASKS[kind],
    leavesHost: false,
    concurrency: CONCURRENCY,
    perFree: Number.POSITIVE_INFINITY,
    backOff: () => PAUSE_AFTER_ERROR_MS,
    async run(task) {
      const end = await db.commit(write, { lease: leaseOf(task), now: clock.now() });
      return end;
    },
  };
}
