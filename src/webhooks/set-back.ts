/**
 * Moves the due times of webhook posts when the wall clock was set back. Suspensions end, because they would
 * otherwise last as long as the set-back.
 */
import type { Db } from '../db/database.ts';
import { inSlices, type SetBack } from '../db/due-times.ts';
import { moveDueDeliveries, type PendingRow } from './deliveries/store.ts';
import { endSuspensions } from './store.ts';

/** Moves the due times of pending deliveries and ends all suspensions. */
export async function moveWebhooks(db: Db, setBack: SetBack): Promise<void> {
  await inSlices<PendingRow>({ endpointId: 'wh_', dueAt: 0, id: 'whd_' }, (after) =>
    db.commit(moveDueDeliveries, { ...setBack, after }),
  );
  await db.commit(endSuspensions, undefined);
}
