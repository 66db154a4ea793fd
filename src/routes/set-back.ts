/**
 * Moves the due times of the tasks of received mail when the wall clock was set back. Suspensions of routes end, because they would
 * otherwise last as long as the set-back.
 */
import type { Db } from '../db/database.ts';
import { inSlices, type SetBack } from '../db/due-times.ts';
import { type MovedAfter, moveDueTasks } from '../inbound/tasks/store.ts';
import { endRouteSuspensions } from './store.ts';

/** Moves the due times of pending tasks and ends all suspensions. */
export async function moveInbound(db: Db, setBack: SetBack): Promise<void> {
  await inSlices<MovedAfter>({ kind: '', queue: '', dueAt: 0, id: '' }, (after) =>
    db.commit(moveDueTasks, { ...setBack, after }),
  );
  await db.commit(endRouteSuspensions, undefined);
}
