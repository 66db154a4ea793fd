/**
 * The background work of broadcasts: each run is a task, and one run of the task takes one step. It starts a scheduled broadcast,
 * writes a slice of the audience to the ledger, makes some copies, or follows up on a resume or a cancel. Each step says when the
 * next is due. A run that waits for the delivery of its copies has no task; the outcomes of copies make one (ledger/run-store.ts).
 */
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { SliceSize } from '../db/slice-size.ts';
import { maxAgeMs } from '../emails/request/schedule.ts';
import { BROADCAST_TASKS, getRun } from '../ledger/run-store.ts';
import { findBroadcastStatus } from '../ledger/store.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import { completeTask, type LeasedTask, retryTask, type TaskEnd } from '../tasks/store.ts';
import { findTenantStatus } from '../tenants/store.ts';
import { cancelCopies, unparkCopies } from './copies-in-queue.ts';
import { makeCopies } from './copy.ts';
import { createEnumeration } from './enumerate.ts';
import { startScheduled } from './start.ts';

/** Maximum number of runs whose steps are taken at the same time. More would only wait for the writer. */
const MAX_RUNNING = 2;
/**
 * Number of copies that one write makes. Each takes about a fifth of a millisecond of the writer, and three times as long on a busy
 * machine. All other writes wait for it.
 */
const COPIES = { first: 25, min: 10, max: 50 };
/** Pause of a run after a step that failed, for example because the disk is full, in milliseconds. */
const PAUSE_AFTER_ERROR_MS = 1_000;

/** Pause of the runs of a tenant that is suspended, in milliseconds. Resuming it ends the pause. */
const SUSPENDED_MS = 60 * 60_000;

/** Returns the runs of broadcasts as a kind of task. One tenant alone can have all slots, since a step is short. */
export function createBroadcastKind(app: App): TaskKind {
  const step = createStep(app);
  return {
    name: BROADCAST_TASKS,
    leavesHost: false,
    concurrency: MAX_RUNNING,
    perFree: Number.POSITIVE_INFINITY,
    backOff: () => PAUSE_AFTER_ERROR_MS,
    // The queue is that of the tenant.
    async rules(tenantId) {
      const status = await findTenantStatus(app.db.read, tenantId as BroadcastRow['tenantId']);
      return status === 'active' ? {} : { pausedUntil: app.clock.now() + SUSPENDED_MS };
    },
    run: step,
  };
}

/** Returns the function that takes one step of a run. */
function createStep(app: App) {
  const { db, clock } = app;
  const enumerate = createEnumeration(app);
  const size = new SliceSize(COPIES);
  const wake = (names: readonly string[]) => {
    for (const name of names) app.wakeups.notify(name);
  };

  async function send(task: LeasedTask): Promise<TaskEnd> {
    const run = await getRun(db.read, broadcastOf(task));
    const { broadcastId, tenantId } = run;
    if (run.passAfter !== null) {
      await db.commit(unparkCopies, { broadcastId, now: clock.now() });
      wake(PASSED);
    }
    if (run.walkedAt === null) await enumerate(run);
    const begunAt = clock.elapsed();
    const copied = await db.commit(makeCopies, {
      broadcastId,
      now: clock.now(),
      maxAgeMs: maxAgeMs(app.config, 'broadcast'),
      maxCopies: size.rows,
      lease: leaseOf(task),
    });
    size.follow(clock.elapsed() - begunAt);
    const { queues, end } = copied;
    if (queues.length > 0) app.wakeups.notify('queue', queues);
    if (end) app.log.info({ broadcastId, tenantId, ...end }, 'a broadcast is no longer sent');
    return copied.task;
  }

  async function cancel(task: LeasedTask): Promise<TaskEnd> {
    const pass = { broadcastId: broadcastOf(task), now: clock.now(), lease: leaseOf(task) };
    const end = await db.commit(cancelCopies, pass);
    wake(PASSED);
    return end;
  }

  async function start(task: LeasedTask): Promise<TaskEnd> {
    const lease = leaseOf(task);
    const dueAt = await startScheduled(app, broadcastOf(task));
    if (dueAt === undefined) return db.commit(completeTask, lease);
    return db.commit(retryTask, { lease, dueAt, attempts: 0 });
  }

  return async (task: LeasedTask): Promise<TaskEnd> => {
    const status = await findBroadcastStatus(db.read, broadcastOf(task));
    if (status === 'sending') return send(task);
    return status === 'canceled' ? cancel(task) : start(task);
  };
}

/** Wake-ups after a change of copies that wait in the queue. */
const PASSED = ['queue', 'suspects', 'events'];

function broadcastOf({ reference }: LeasedTask) {
  return reference as Parameters<typeof getRun>[1];
}
