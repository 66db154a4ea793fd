/** Changes how fast a broadcast is sent while it is being sent or paused. */
import type { App } from '../app.ts';
import { defineWrite } from '../db/operation.ts';
import { makeRunDue, patchRun } from '../ledger/run-store.ts';
import { AppError } from '../system/errors.ts';
import { readPlan } from './plan.ts';
import type { BroadcastChange } from './schemas.ts';
import { getBroadcast, type Owner, touchBroadcast } from './store.ts';

type PaceChange = { owner: Owner; id: string; pace: string | null; now: number };

/** Returns true for a change of the pace alone. */
export function isOfPaceAlone({ pace, ...others }: BroadcastChange): boolean {
  return pace !== undefined && Object.values(others).every((value) => value === undefined);
}

/**
 * Stores another pace. It holds from the next copy on.
 * @throws AppError not_found, invalid_state
 */
const storePace = defineWrite(
  'broadcasts.changePace',
  async (tx, { owner, id, pace, now }: PaceChange): Promise<void> => {
    const { id: broadcastId, tenantId, status } = await getBroadcast(tx, owner, id);
    if (status !== 'sending' && status !== 'paused')
      throw new AppError('invalid_state', `A broadcast that is ${status} has no pace to change`);
    await patchRun(tx, broadcastId, { pace });
    if (status === 'sending') await makeRunDue(tx, { broadcastId, tenantId }, now);
    await touchBroadcast(tx, broadcastId, now);
  },
);

/**
 * Changes the pace of a broadcast that is being sent or paused.
 * @throws AppError not_found, validation_error, invalid_state
 */
export async function changePace(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { tenantId, mode, domainId }: Owner,
  { id, given }: { id: string; given: BroadcastChange },
): Promise<void> {
  const now = clock.now();
  const { pace } = readPlan(given, now);
  const paceJson = pace ? JSON.stringify(pace) : null;
  await db.commit(storePace, { owner: { tenantId, mode, domainId }, id, pace: paceJson, now });
}
