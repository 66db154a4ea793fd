/** Tasks that a test leases and runs itself, without the engine's loop. */
import type { App } from '../../src/app.ts';
import { leaseOf, type RunningTask, type TaskKind } from '../../src/tasks/kind.ts';
import { leaseTasks, listLeased, listWaitingQueues, releaseTasks } from '../../src/tasks/store.ts';

type TaskApp = Pick<App, 'db' | 'clock' | 'runId'>;

/** Leases due tasks of a kind, in one queue or in all of them, as the engine does. */
export async function leaseTasksOf(
  { db, clock, runId }: TaskApp,
  { kind, queue, limit = 1 }: { kind: string; queue?: string; limit?: number },
): Promise<RunningTask[]> {
  const queues = queue
    ? [{ queueKey: queue }]
    : await listWaitingQueues(db.read, { kind, after: '', limit: 1_000 });
  const claims = queues.map(({ queueKey }) => ({ queueKey, limit }));
  const leased = await db.commit(leaseTasks, { kind, now: clock.now(), runId, claims });
  const { signal } = new AbortController();
  return leased.map((task) => ({ ...task, signal, free() {} }));
}

/** Runs tasks of a kind that are due, up to `limit` of each queue, one after another. Returns what they were about, in this order. */
export async function runDueTasks(app: TaskApp, kind: TaskKind, limit = 100): Promise<string[]> {
  const ran: string[] = [];
  for (const task of await leaseTasksOf(app, { kind: kind.name, limit })) {
    await kind.run(task);
    ran.push(task.reference);
  }
  return ran;
}

/** Makes the leased tasks of a kind due again, as a start after a crash does. Returns their number. */
export async function releaseTasksOf({ db, clock }: TaskApp, kind: string): Promise<number> {
  const abandoned = await listLeased(db.read, { kind, limit: 1_000 });
  const dueAt = clock.now();
  await db.commit(releaseTasks, { releases: abandoned.map((task) => ({ lease: leaseOf(task), dueAt })) });
  return abandoned.length;
}
