/**
 * The background work of broadcasts. A run that is due takes one step: it starts a scheduled broadcast, writes a slice of the
 * audience to the ledger, makes some copies, or follows up on a resume or a cancel. Each step stores when the next is due. A run
 * that waits for the delivery of its copies is not due; the outcomes of copies make it due (ledger/store.ts).
 */
import { maxAgeMs } from '../emails/request/schedule.ts';
import { type DueRun, deferRun, findNextDueRun, getRun, listDueRuns } from '../ledger/run-store.ts';
import type { Work } from '../system/worker.ts';
import { cancelCopies, unparkCopies } from './copies-in-queue.ts';
import { makeCopies } from './copy.ts';
import { type SendingApp, startScheduled } from './start.ts';
import { createWalk } from './walk.ts';

/** Maximum number of runs whose steps are taken at the same time. More would only wait for the writer. */
const MAX_RUNNING = 2;
/** Time after which a scheduled broadcast that cannot start at the moment is tried again, in milliseconds. */
const RETRY_START_MS = 5_000;
/** Pause of a run after a step that failed, for example because the disk is full, in milliseconds. */
const PAUSE_AFTER_ERROR_MS = 1_000;

/** Returns the background work of all broadcasts. */
export function createBroadcastWork(app: SendingApp): Work<DueRun> {
  const { db, clock } = app;
  const step = createStep(app);
  const running = new Set<DueRun['broadcastId']>();
  /** Ends of the pauses of runs that failed, on the monotonic clock. */
  const pausedUntil = new Map<DueRun['broadcastId'], number>();
  /** Time of the last step of each tenant with due runs. Those that waited longest come first. */
  let servedAt = new Map<DueRun['tenantId'], number>();
  let steps = 0;

  return {
    name: 'broadcasts',
    wakeOn: ['broadcasts'],
    concurrency: MAX_RUNNING,
    async lease(limit) {
      const now = clock.now();
      const due = await listDueRuns(db.read, now);
      const tenants = new Set(due.map(({ tenantId }) => tenantId));
      servedAt = new Map([...servedAt].filter(([tenantId]) => tenants.has(tenantId)));
      const pauseMs = ({ broadcastId }: DueRun) => (pausedUntil.get(broadcastId) ?? 0) - clock.elapsed();
      const idle = due.filter(({ broadcastId }) => !running.has(broadcastId));
      const ready = idle
        .filter((run) => pauseMs(run) <= 0)
        .toSorted((a, b) => (servedAt.get(a.tenantId) ?? 0) - (servedAt.get(b.tenantId) ?? 0));
      const items = oneOfEachTenant(ready).slice(0, limit);
      for (const { broadcastId, tenantId } of items) {
        running.add(broadcastId);
        servedAt.set(tenantId, ++steps);
      }
      const waits = idle.map((run) => now + Math.max(0, pauseMs(run)));
      const nextDueAt = Math.min(...waits, (await findNextDueRun(db.read, now)) ?? Number.POSITIVE_INFINITY);
      return { items, nextDueAt: Number.isFinite(nextDueAt) ? nextDueAt : undefined };
    },
    async run(run) {
      const { broadcastId } = run;
      try {
        await step(run);
        pausedUntil.delete(broadcastId);
      } catch (error) {
        pausedUntil.set(broadcastId, clock.elapsed() + PAUSE_AFTER_ERROR_MS);
        throw error;
      } finally {
        running.delete(broadcastId);
      }
    },
  };
}

function oneOfEachTenant(runs: readonly DueRun[]): DueRun[] {
  const tenants = new Set<string>();
  return runs.filter(({ tenantId }) => {
    const isFirst = !tenants.has(tenantId);
    tenants.add(tenantId);
    return isFirst;
  });
}

/** Returns the function that takes one step of a run. */
function createStep(app: SendingApp) {
  const { db, clock } = app;
  const walk = createWalk(app);

  async function pass(broadcastId: DueRun['broadcastId'], write: typeof unparkCopies): Promise<void> {
    await db.commit(write, { broadcastId, now: clock.now() });
    for (const name of ['queue', 'suspects', 'events']) app.wakeups.notify(name);
  }

  async function send({ broadcastId, tenantId }: DueRun): Promise<void> {
    const run = await getRun(db.read, broadcastId);
    if (run.passAfter !== null) await pass(broadcastId, unparkCopies);
    if (run.walkedAt === null) await walk(run);
    const copying = { broadcastId, now: clock.now(), maxAgeMs: maxAgeMs(app.config, 'broadcast') };
    const { queues, end } = await db.commit(makeCopies, copying);
    if (queues.length > 0) app.wakeups.notify('queue', queues);
    if (queues.length > 0 || end) app.wakeups.notify('events');
    if (end) app.log.info({ broadcastId, tenantId, ...end }, 'a broadcast is no longer sent');
  }

  return async (run: DueRun): Promise<void> => {
    const { broadcastId, status } = run;
    if (status === 'canceled') await pass(broadcastId, cancelCopies);
    else if (status === 'sending') await send(run);
    else if (!(await startScheduled(app, broadcastId)))
      await db.commit(deferRun, { broadcastId, until: clock.now() + RETRY_START_MS });
  };
}
