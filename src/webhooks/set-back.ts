/** Moves the due times of webhook posts with a wall clock that was set back. */
import type { Db } from '../db/database.ts';
import { inSlices, type SetBack } from '../db/due-times.ts';
import { moveDueDeliveries, type PendingRow } from './deliveries/store.ts';

export function moveWebhooks(db: Db, setBack: SetBack): Promise<void> {
  return inSlices<PendingRow>({ endpointId: 'wh_', dueAt: 0, id: 'whd_' }, (after) =>
    db.commit(moveDueDeliveries, { ...setBack, after }),
  );
}
