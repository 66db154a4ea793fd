/**
 * Goes through the mail that an action names, in slices with pauses, so that accepting and delivering mail go on meanwhile. The command
 * that makes the action does it while it shows the progress; the task of the action goes on where the command has stopped.
 */
import type { App } from '../../app.ts';
import type { QueueActionRow } from '../../db/queue-tables.ts';
import { SliceSize } from '../../db/slice-size.ts';
import { orNotFound } from '../../system/errors.ts';
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import type { Lease, TaskEnd } from '../../tasks/store.ts';
import { ACTION_TASKS, sweepAction } from './act.ts';
import { findAction } from './store.ts';

type SweepApp = Pick<App, 'db' | 'clock' | 'wakeups'>;

/** Number of recipients in a slice. Each takes about a tenth of a millisecond of the writer. */
const ROWS = { first: 50, min: 10, max: 100 };
/**
 * Pause after each slice: at least 5 ms, and twice the duration of the slice with its wait for the writer, so that other writes have two
 * thirds of the writer's time.
 */
const MIN_PAUSE_MS = 5;
const PAUSE_PER_SLICE = 2;
/** Time that a command sweeps before it is told how far it has come, in milliseconds. */
const PROGRESS_MS = 500;

/** Returns the function that makes one slice of an action. */
function createSlices(app: SweepApp) {
  const size = new SliceSize(ROWS);
  let pauseMs = MIN_PAUSE_MS;
  return async (
    id: QueueActionRow['id'],
    lease?: Lease,
  ): Promise<{ end: TaskEnd | undefined; pauseMs: number }> => {
    const begunAt = app.clock.elapsed();
    const slice = { id, now: app.clock.now(), rows: size.rows, pauseMs, lease };
    const end = await app.db.commit(sweepAction, slice);
    const tookMs = app.clock.elapsed() - begunAt;
    size.follow(tookMs);
    pauseMs = Math.max(MIN_PAUSE_MS, Math.round(PAUSE_PER_SLICE * tookMs));
    for (const name of ['queue', 'suspects', 'events']) app.wakeups.notify(name);
    return { end, pauseMs };
  };
}

/** Returns the sweeps of actions as a kind of task: each run makes one slice. */
export function createActionKind(app: SweepApp): TaskKind {
  const makeSlice = createSlices(app);
  return {
    name: ACTION_TASKS,
    leavesHost: false,
    concurrency: 1,
    perFree: Number.POSITIVE_INFINITY,
    backOff: () => 1_000,
    async run(task) {
      const { end } = await makeSlice(task.reference as QueueActionRow['id'], leaseOf(task));
      return end ?? 'stale';
    },
  };
}

/**
 * Sweeps for half a second, or until the action has gone through all mail, and returns the action.
 * @throws AppError not_found
 */
export async function continueAction(app: SweepApp, id: string): Promise<QueueActionRow> {
  const makeSlice = createSlices(app);
  const until = app.clock.elapsed() + PROGRESS_MS;
  for (;;) {
    const action = orNotFound(await findAction(app.db.read, id), 'Action');
    if (action.finishedAt !== null || app.clock.elapsed() >= until) return action;
    const { pauseMs } = await makeSlice(action.id);
    const isFinished = (await findAction(app.db.read, id))?.finishedAt !== null;
    if (!isFinished) await new Promise<void>((resolve) => app.clock.after(pauseMs, resolve));
  }
}
