/** Pauses, resumes and cancels broadcasts. From the commit on, no copy is claimed for delivery any more. */
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { getRun, patchRun } from '../ledger/run-store.ts';
import { findCounts } from '../ledger/store.ts';
import { AppError } from '../system/errors.ts';
import { changeStatus } from './runs/state.ts';
import { getBroadcast, type Owner } from './store.ts';

type Control = { owner: Owner; id: string; cause: 'paused' | 'resumed' | 'canceled'; now: number };

/**
 * Pauses, resumes or cancels a broadcast, and returns it.
 * @throws AppError not_found, invalid_state
 */
const controlBroadcast = defineWrite(
  'broadcasts.control',
  async (tx, { owner, id, cause, now }: Control): Promise<BroadcastRow> => {
    const broadcast = await getBroadcast(tx, owner, id);
    const change = cause === 'paused' ? ({ cause, reason: 'manual' } as const) : { cause };
    await changeStatus(tx, broadcast, { ...change, now });
    if (cause === 'resumed') await restartRates(tx, broadcast.id);
    return getBroadcast(tx, owner, id);
  },
  { priority: 'urgent', crashPoints: { afterCommit: 'broadcast-pause-after-commit' } },
);

/**
 * Restarts the evaluation of the rates of bounces and complaints. Resuming a broadcast accepts those before.
 * @throws AppError invalid_state for a broadcast that was never started
 */
async function restartRates(tx: Tx, id: BroadcastRow['id']): Promise<void> {
  const { startedAt } = await getRun(tx, id);
  const counts = await findCounts(tx, id);
  if (startedAt === null || !counts)
    throw new AppError('invalid_state', 'The broadcast was never started, so it cannot be resumed');
  const { sent, bouncedPermanently, complained } = counts;
  await patchRun(tx, id, { judgedFrom: JSON.stringify({ sent, bouncedPermanently, complained }) });
}

/** Changes a broadcast like `controlBroadcast`, and wakes those who read events. */
export async function control(
  { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>,
  { owner: { tenantId, mode, domainId }, ...wanted }: Omit<Control, 'now'>,
): Promise<BroadcastRow> {
  const owner = { tenantId, mode, domainId };
  const broadcast = await db.commit(controlBroadcast, { ...wanted, owner, now: clock.now() });
  log.info({ broadcastId: broadcast.id, tenantId, status: broadcast.status }, 'a broadcast was changed');
  return broadcast;
}
