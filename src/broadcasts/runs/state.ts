/**
 * The state machine of a broadcast. A cause says why the status changes; this module says from which states it may, and
 * what changes with it. Nothing else changes the status of a broadcast.
 */
import { findApproval, settleApproval, withdrawApproval } from '../../approvals/store.ts';
import type { BroadcastRunRow } from '../../db/broadcast-tables.ts';
import type { BroadcastRow, BroadcastStatus } from '../../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { type EventType, recordEvent } from '../../events/store.ts';
import { clearRunDue, makeRunDue, patchRun } from '../../ledger/run-store.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { showBroadcastSummary } from '../show.ts';
import { findListed, setStatus, withProgress } from '../store.ts';

type Cause =
  | { cause: 'started' }
  | { cause: 'paused'; reason: Exclude<BroadcastRunRow['pausedReason'], 'late' | null> }
  /** A scheduled broadcast was found long after its time. */
  | { cause: 'delayed' }
  /** A scheduled broadcast could not start. */
  | { cause: 'failed'; failure: string }
  | { cause: 'resumed' }
  | { cause: 'canceled' }
  /** Nobody has approved the time of a scheduled broadcast, or it is to be sent now instead, so that it is a draft again. */
  | { cause: 'returned' }
  /** Every copy was tried, and nobody waits for one. */
  | { cause: 'ended' };

type Name = Cause['cause'];

/** The states in which each cause may find a broadcast. */
const FROM: Record<Name, readonly BroadcastStatus[]> = {
  // One that was found late is paused until its owner starts it.
  started: ['draft', 'scheduled', 'paused'],
  // An approved draft is started as a scheduled one is.
  delayed: ['scheduled', 'draft'],
  failed: ['scheduled', 'draft'],
  returned: ['scheduled'],
  paused: ['sending'],
  resumed: ['paused'],
  canceled: ['scheduled', 'sending', 'paused'],
  ended: ['sending'],
};

const TO: Record<Name, BroadcastStatus> = {
  started: 'sending',
  delayed: 'paused',
  failed: 'failed',
  paused: 'paused',
  resumed: 'sending',
  canceled: 'canceled',
  returned: 'draft',
  ended: 'sent',
};

/** The causes after which background work goes on. After any other it ends by itself when it finds nothing to do. */
const MAKES_DUE: readonly Name[] = ['started', 'resumed', 'canceled'];

/**
 * Changes the status of a broadcast, as part of a write.
 * @throws AppError invalid_state when the cause does not fit its status
 */
export async function changeStatus(
  tx: Tx,
  { id, tenantId, status }: Pick<BroadcastRow, 'id' | 'tenantId' | 'status'>,
  { now, ...change }: Cause & { now: number },
): Promise<void> {
  const { cause } = change;
  if (!FROM[cause].includes(status))
    throw new AppError('invalid_state', `The broadcast is ${status}; it cannot be ${cause} any more or yet`);
  await setStatus(tx, id, { status: TO[cause], now });
  await patchRun(tx, id, patchOf(change, now));
  if (cause === 'returned') await clearRunDue(tx, id);
  if (cause === 'canceled') await withdrawApproval(tx, id, now);
  if (MAKES_DUE.includes(cause)) await makeRunDue(tx, { broadcastId: id, tenantId }, now);
  const event = EVENTS[cause];
  if (event !== undefined) await recordBroadcastEvent(tx, id, { type: event, now });
}

/** Records an event about a broadcast as it is now, with the record that lists show. */
async function recordBroadcastEvent(
  tx: Tx,
  id: BroadcastRow['id'],
  { type, now }: { type: EventType; now: number },
): Promise<void> {
  const broadcast = await findListed(tx, id);
  if (!broadcast) return;
  const { tenantId, mode } = broadcast;
  const data = showBroadcastSummary(await withProgress(tx, broadcast));
  await recordEvent(tx, { id: newId('evt', now), tenantId, mode, type, emailId: null, data, createdAt: now });
}

/** The events that are recorded for some of the causes. */
const EVENTS: Partial<Record<Name, Extract<EventType, `broadcast.${string}`>>> = {
  paused: 'broadcast.paused',
  delayed: 'broadcast.paused',
  failed: 'broadcast.failed',
  ended: 'broadcast.sent',
};

function patchOf(change: Cause, now: number): Parameters<typeof patchRun>[2] {
  switch (change.cause) {
    case 'started':
      return { startedAt: now, pausedReason: null };
    case 'paused':
      return { pausedReason: change.reason };
    case 'delayed':
      return { pausedReason: 'late' };
    case 'failed':
      return { failure: change.failure, endedAt: now };
    case 'resumed':
      return { pausedReason: null, passAfter: '' };
    // The copies that wait are canceled by background work.
    case 'canceled':
      return { pausedReason: null, endedAt: now, passAfter: '' };
    case 'returned':
      return { scheduleAt: null };
    case 'ended':
      return { endedAt: now };
  }
}

export type Settling = Pick<BroadcastRow, 'id' | 'updatedAt'> & {
  /** Reason why the broadcast cannot start; undefined when it is late. */
  failure: string | undefined;
  now: number;
};

const STARTABLE: readonly BroadcastStatus[] = ['scheduled', 'draft'];

/**
 * Pauses a scheduled broadcast, or an approved draft, that is late, or marks it as failed, unless it was changed since it was read. A request to
 * send it earlier ends then, because nobody can approve it any more.
 */
export const settleScheduled = defineWrite(
  'broadcasts.settleScheduled',
  async (tx, { id, updatedAt, failure, now }: Settling): Promise<BroadcastRow['status'] | undefined> => {
    const broadcast = await findListed(tx, id);
    if (!broadcast || !STARTABLE.includes(broadcast.status)) return undefined;
    if (broadcast.updatedAt !== updatedAt) return undefined;
    const change =
      failure === undefined ? { cause: 'delayed' as const } : { cause: 'failed' as const, failure };
    const approval = await findApproval(tx, id);
    if (approval?.state === 'pending') await settleApproval(tx, approval, { state: 'withdrawn', now });
    await changeStatus(tx, broadcast, { ...change, now });
    return failure === undefined ? 'paused' : 'failed';
  },
);
