/** The write that starts a broadcast: its run, its content, its counts and its status at once. */
import { withdrawApproval } from '../../approvals/store.ts';
import { findNewestContact } from '../../audiences/contacts/store.ts';
import type { BroadcastRunRow } from '../../db/broadcast-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { findRun, putRun } from '../../ledger/run-store.ts';
import { insertCounts } from '../../ledger/store.ts';
import type { NewSource } from '../../queue/contents/source.ts';
import { insertContent } from '../../queue/contents/store.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { insertTargets } from '../../tracking/links/store.ts';
import { isCleared } from '../ask.ts';
import type { Frozen } from '../frozen.ts';
import { getBroadcast } from '../store.ts';
import { changeStatus } from './state.ts';

/**
 * The states that a broadcast may be started from. One that is paused must never have been started, and when a scheduled one is
 * the only one that is named, it must be due.
 */
export type StartedFrom = readonly Extract<BroadcastRow['status'], 'draft' | 'scheduled' | 'paused'>[];

/**
 * Checks that a broadcast can be started.
 * @throws AppError invalid_state
 */
export function requireStartable({ status }: Pick<BroadcastRow, 'status'>, from: StartedFrom): void {
  if (from.some((one) => one === status)) return;
  throw new AppError(
    'invalid_state',
    `The broadcast is ${status}; only a draft or a scheduled one can be sent`,
  );
}

/**
 * Returns the id before which the enumeration ends. The newest contact may have an id from a time when the clock was ahead; with
 * one more character, the bound comes right after it.
 */
async function findEnumerationEnd(
  tx: Tx,
  audienceId: Frozen['audienceId'],
  now: number,
): Promise<BroadcastRunRow['walkUntil']> {
  const [next, newest] = [newId('ct', now + 1), await findNewestContact(tx, audienceId)];
  return newest !== undefined && newest > next ? `${newest}0` : next;
}

/** A start by somebody who may send the broadcast, or by the daemon, which starts only what is scheduled or approved. */
export type Starter = 'owner' | 'daemon';

type Start = { broadcast: BroadcastRow; from: StartedFrom; starter: Starter } & {
  frozen: Frozen;
  source: NewSource;
  /** Addresses of the tracked links. */
  targets: readonly string[];
  /** Hash of the content and the audience that are frozen (bound.ts). */
  contentHash: string;
  now: number;
};

/**
 * Starts a broadcast and returns it as it is then. It does not start, and the answer says so, when it has `changed` since it was read, or
 * `waits` for the approval of a person.
 * @throws AppError not_found, invalid_state
 */
export const storeStart = defineWrite(
  'broadcasts.start',
  async (
    tx,
    { broadcast: read, from, starter, frozen, source, targets, contentHash, now }: Start,
  ): Promise<BroadcastRow | 'changed' | 'waits'> => {
    const broadcast = await getBroadcast(tx, { ...read, domainId: null }, read.id);
    requireStartable(broadcast, from);
    const { id, tenantId, mode } = broadcast;
    const before = await findRun(tx, id);
    if (before && before.startedAt !== null)
      throw new AppError('invalid_state', 'The broadcast was started already');
    const mustBeDue = from.every((one) => one === 'scheduled');
    if (mustBeDue && (before?.scheduleAt ?? 0) > now)
      throw new AppError('invalid_state', 'The broadcast was moved to a later time');
    if (broadcast.updatedAt !== read.updatedAt) return 'changed';
    const { pace = null, scheduleAt = null } = before ?? {};
    const planned = { pace, scheduleAt, domainId: frozen.domainId };
    if (starter === 'owner') await withdrawApproval(tx, id, now);
    else if (!(await isCleared(tx, { broadcast, run: planned, contentHash, now }))) return 'waits';
    const run: BroadcastRunRow = {
      broadcastId: id,
      tenantId,
      mode,
      scheduleAt,
      startedAt: now,
      endedAt: null,
      pausedReason: null,
      failure: null,
      pace,
      nextCopyAt: null,
      contentId: await insertContent(tx, tenantId, source),
      frozen: JSON.stringify(frozen),
      walkUntil: await findEnumerationEnd(tx, frozen.audienceId, now),
      walkAfter: null,
      walkedAt: null,
      passAfter: null,
      domainId: frozen.domainId,
      judgedFrom: null,
    };
    await putRun(tx, run);
    await insertTargets(tx, id, targets);
    await insertCounts(tx, id);
    await changeStatus(tx, broadcast, { cause: 'started', now });
    return getBroadcast(tx, { ...read, domainId: null }, id);
  },
);
