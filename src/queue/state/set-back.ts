import type { Db } from '../../db/database.ts';
import { inSlices, type SetBack } from '../../db/due-times.ts';
import { MAX_RETRY_DELAY_MS } from '../schedule.ts';
import { type DueRow, moveDueRecipients } from '../store.ts';

/** Moves the due times of retries after the wall clock was set back. Scheduled mail keeps its time. */
export async function moveQueue(db: Db, setBack: SetBack): Promise<void> {
  const { now, setBackMs } = setBack;
  const until = now + setBackMs + MAX_RETRY_DELAY_MS;
  await inSlices<DueRow>({ id: 'rcp_', dueAt: now }, (after) =>
    db.commit(moveDueRecipients, { ...setBack, after, until: Math.round(until) }),
  );
}
