/** Moves the due times of the tasks of received mail when the wall clock was set back. */
import type { Db } from '../../db/database.ts';
import { inSlices, type SetBack } from '../../db/due-times.ts';
import { type MovedAfter, moveDueTasks } from './store.ts';

/** Moves the due times of pending tasks. */
export async function moveTasks(db: Db, setBack: SetBack): Promise<void> {
  await inSlices<MovedAfter>({ kind: '', queue: '', dueAt: 0, id: '' }, (after) =>
    db.commit(moveDueTasks, { ...setBack, after }),
  );
}
