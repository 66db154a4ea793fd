/** Upkeep of all tasks: what happens when the wall clock was set back, and the metrics. */
import type { App } from '../app.ts';
import type { Db } from '../db/database.ts';
import { inSlices, type SetBack } from '../db/due-times.ts';
import { countTasks, type KindLoad } from './read-store.ts';
import { FIRST_TASK, moveDueTasks } from './store.ts';

/** Moves the due times of all tasks when the wall clock was set back. */
export function moveTasks(db: Db, setBack: SetBack): Promise<void> {
  return inSlices(FIRST_TASK, (after) => db.commit(moveDueTasks, { ...setBack, after }));
}

const MS_PER_SECOND = 1_000;

/** Registers the metrics of tasks that wait or have failed. They are read whenever metrics are shown. */
export function watchTasks({ metrics, db, clock }: Pick<App, 'clock' | 'db' | 'metrics'>): void {
  let reading: Promise<KindLoad[]> | undefined;
  /** Counts once for all metrics that are shown together. */
  const count = (): Promise<KindLoad[]> => {
    reading ??= db.query(countTasks, undefined).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const show = (name: string, help: string, select: (load: KindLoad) => number) =>
    metrics.gauges(name, help, {
      labels: ['kind'],
      async read() {
        const loads = await count();
        return loads.map((load) => ({ labels: { kind: load.kind }, value: select(load) }));
      },
    });
  show('tasks_waiting', 'Tasks that wait, due or not, up to 20,000.', ({ waiting }) => waiting);
  show('tasks_failed', 'Tasks that could not be run, and are not tried again.', ({ failed }) => failed);
  show('tasks_oldest_due_seconds', 'Time for which the oldest due task has been due.', ({ dueAt }) =>
    dueAt === null ? 0 : Math.max(0, clock.now() - dueAt) / MS_PER_SECOND,
  );
}
