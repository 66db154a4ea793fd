/** An engine with one kind on a real database in this thread, and a clock that the test moves. */
import { EgressGate } from '../../src/system/egress.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { createWakeups } from '../../src/system/wakeups.ts';
import { startTasks, wakeTasks } from '../../src/tasks/engine.ts';
import { leaseOf, type RunningTask, type TaskKind } from '../../src/tasks/kind.ts';
import { completeTask, findTask, type NewTask, scheduleTask, type TaskEnd } from '../../src/tasks/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';
import { recordLog } from '../support/record-log.ts';

export const START = 1_800_000_000_000;
/** Test files of one process share it, so that none closes it. */
export const { tx, database } = openMemoryDatabase();

/** Runs a test with an engine. A run of a task lasts until the test ends it. */
export async function inWorld(
  change: Partial<TaskKind>,
  run: (world: Awaited<ReturnType<typeof openWorld>>) => Promise<void>,
): Promise<void> {
  const world = openWorld(change);
  try {
    await run(world);
  } finally {
    await world.stop();
    database.exec('DELETE FROM tasks');
  }
}

function openWorld(change: Partial<TaskKind>) {
  const clock = createFakeClock(START);
  const { log, lines } = recordLog();
  const wakeups = createWakeups();
  const running = new Map<
    string,
    { task: RunningTask; resolve(): void; end(): Promise<void>; fail(error: Error): Promise<void> }
  >();
  const started: string[] = [];
  const db = {
    read: tx,
    commit: async (write: { run(on: typeof tx, input: never): Promise<unknown> }, input: unknown) =>
      write.run(tx, input as never) as never,
    commitInBackground: () => {},
  };
  const app = {
    ...{ clock, log, wakeups, metrics: createMetrics(clock), crashPoint: () => {} },
    ...{ db, runId: 'this run', egress: new EgressGate() },
  };
  const kind: TaskKind = {
    name: 'kind',
    leavesHost: false,
    concurrency: 4,
    backOff: (attempts) => (attempts < 3 ? 1_000 * attempts : undefined),
    async run(task): Promise<TaskEnd> {
      started.push(task.reference);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      running.set(task.reference, {
        task,
        resolve,
        end: async () => settle(resolve),
        fail: async (error) => settle(() => reject(error)),
      });
      task.signal.addEventListener('abort', () => reject(new Error('aborted')));
      await promise;
      return completeTask.run(tx, leaseOf(task));
    },
    ...change,
  };
  async function settle(now: () => void): Promise<void> {
    now();
    await clock.advance(1);
  }
  let works: ReturnType<typeof startTasks>[] = [];
  return {
    ...{ app, clock, kind, lines, running, started, wakeups },
    async start(runId = app.runId) {
      works.push(startTasks({ ...app, runId }, [kind]));
      await clock.advance(10);
    },
    async add(references: readonly string[], task: Partial<NewTask> = {}) {
      for (const reference of references)
        await scheduleTask(tx, {
          ...{ kind: 'kind', reference, queueKey: 'q', tenantId: null, dueAt: clock.now() },
          ...task,
        });
    },
    wake: async (queues?: readonly string[]) => {
      wakeTasks(app, 'kind', queues);
      await clock.advance(200);
    },
    find: (reference: string) => findTask(tx, { kind: 'kind', reference }),
    async stop(graceMs = 0) {
      const stopped = works.map((work) => work.stop(graceMs));
      works = [];
      await clock.advance(graceMs);
      await Promise.all(stopped);
    },
  };
}
