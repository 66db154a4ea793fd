/**
 * Follows up on copies that are already in the queue when their broadcast is resumed or canceled. Parked copies become due
 * again; open copies and contacts that still wait are canceled. Both go through the ledger in slices.
 */
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { getRun, patchRun } from '../ledger/run-store.ts';
import { findBroadcastStatus, listInState, settleWaiting } from '../ledger/store.ts';
import { deleteUnusedContent } from '../queue/contents/store.ts';
import { getMail } from '../queue/mail-store.ts';
import { changeEach } from '../queue/state/change.ts';
import type { Transition } from '../queue/state/transition.ts';
import { completeTask, type Lease, retryTask, type TaskEnd } from '../tasks/store.ts';

type BroadcastId = BroadcastRunRow['broadcastId'];

/** Numbers of contacts and of copies that one write changes: about 10 ms of the writer. */
const CONTACTS_PER_WRITE = 500;
const COPIES_PER_WRITE = 100;

const CANCELED = 'The broadcast was canceled';

type Pass = { broadcastId: BroadcastId; now: number };
type LeasedPass = Pass & { lease: Lease };

/** Makes the parked copies among the next ones due, when the broadcast is being sent. */
export const unparkCopies = defineWrite(
  'broadcasts.unpark',
  async (tx, { broadcastId, now }: Pass): Promise<void> => {
    const { passAfter: after } = await getRun(tx, broadcastId);
    if (after === null || (await findBroadcastStatus(tx, broadcastId)) !== 'sending') return;
    const passAfter = await changeQueued(tx, { broadcastId, after, now }, (recipient) =>
      isWaiting(recipient) && recipient.dueAt === null ? { cause: 'unparked', dueAt: now } : undefined,
    );
    await patchRun(tx, broadcastId, { passAfter });
  },
  { priority: 'bulk' },
);

/**
 * Cancels the next contacts that wait, and then the next copies that are not in flight. A copy in flight is canceled when
 * it would be claimed again. At the end, the run has no more work.
 */
export const cancelCopies = defineWrite(
  'broadcasts.cancelCopies',
  async (tx, { broadcastId, now, lease }: LeasedPass): Promise<TaskEnd> => {
    const { passAfter: after, contentId } = await getRun(tx, broadcastId);
    if (after === null || (await findBroadcastStatus(tx, broadcastId)) !== 'canceled')
      return completeTask.run(tx, lease);
    const goOn = () => retryTask.run(tx, { lease, dueAt: now, attempts: 0 });
    const waiting = await listInState(tx, {
      broadcastId,
      state: 'waiting',
      after: '',
      limit: CONTACTS_PER_WRITE,
    });
    const decisions = waiting.map(({ contactId, address }) => {
      return { contactId, address, state: 'canceled', emailId: null, reason: CANCELED } as const;
    });
    await settleWaiting(tx, { broadcastId, now }, decisions);
    if (waiting.length > 0) return goOn();
    const passAfter = await changeQueued(tx, { broadcastId, after, now }, (recipient) =>
      isWaiting(recipient) || recipient.state === 'held' ? { cause: 'canceled' } : undefined,
    );
    await patchRun(tx, broadcastId, { passAfter });
    if (passAfter !== null) return goOn();
    if (contentId !== null) await deleteUnusedContent(tx, contentId);
    return completeTask.run(tx, lease);
  },
  { priority: 'bulk' },
);

/**
 * Changes the recipients of the next copies that have not ended, as `transitionOf` says. Returns the contact after which the next
 * slice begins, and null at the end.
 */
async function changeQueued(
  tx: Tx,
  { broadcastId, after, now }: Pass & { after: string },
  transitionOf: (recipient: RecipientRow) => Transition | undefined,
): Promise<string | null> {
  const limit = COPIES_PER_WRITE;
  const queued = await listInState(tx, { broadcastId, state: 'queued', after, limit });
  for (const { emailId } of queued) {
    if (emailId === null) continue;
    await changeEach(tx, await getMail(tx, emailId), { now, transitionOf });
  }
  return (queued.length === limit && queued.at(-1)?.contactId) || null;
}

function isWaiting({ state }: RecipientRow): boolean {
  return state === 'ready' || state === 'deferred';
}
