/**
 * The background work of broadcasts. A run is due from its start to its end; each step walks one slice of the audience,
 * makes some copies, or follows up on a resume or a cancel, and then yields to the runs of other tenants.
 */
import type { App } from '../app.ts';
import type { BroadcastCountsRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import { maxAgeMs } from '../emails/request/schedule.ts';
import { findCounts } from '../ledger/store.ts';
import type { Work } from '../system/worker.ts';
import { cancelCopies, unparkCopies } from './copies-in-queue.ts';
import { makeCopies } from './copy.ts';
import { endBroadcast } from './end.ts';
import { type DueRun, findNextDueRun, getRun, listDueRuns } from './runs/store.ts';
import { startScheduled } from './scheduled.ts';
import { createWalk } from './walk.ts';

type BroadcastApp = Pick<App, 'db' | 'clock' | 'config' | 'htmlText' | 'linkFinder' | 'log' | 'wakeups'>;

/** Maximum number of runs whose steps are taken at the same time. More would only wait for the writer. Our own limit. */
const MAX_RUNNING = 2;
/** Time between two checks of a run whose copies are being delivered, in milliseconds. Our own limit. */
const POLL_MS = 50;
/**
 * Maximum time between two checks of a run that makes no progress, because its pace or a slow server delays its copies, in
 * milliseconds. A tenant may have a thousand such runs. Our own limit.
 */
const MAX_POLL_MS = 5_000;
/** Time after which a scheduled broadcast that cannot start at the moment is tried again, in milliseconds. Our own limit. */
const RETRY_START_MS = 5_000;

/** State of a run that this start of the daemon remembers. */
type Memory = {
  tenantId: BroadcastRunRow['tenantId'];
  /** Earliest time of the next step, on the monotonic clock in milliseconds. */
  nextAt: number;
  /**
   * Time of the last change that was seen. A later one begins a new pass through the copies, also when the status is as
   * before: a broadcast may have been paused and resumed since.
   */
  updatedAt: DueRun['updatedAt'];
  /** Contact after which the pass through the copies in the queue goes on; undefined when the pass is over. */
  passAfter: string | undefined;
  /** Numbers of contacts that waited and of copies without an attempt at the last check, and the wait after it. */
  idle: { waiting: number; untried: number; waitMs: number } | undefined;
};

/** Returns the background work of all broadcasts. */
export function createBroadcastWork(app: BroadcastApp): Work<DueRun> {
  const { db, clock } = app;
  const step = createStep(app);
  const memories = new Map<DueRun['broadcastId'], Memory>();
  const running = new Set<DueRun['broadcastId']>();
  /** Time of the last step of each tenant with due runs. Those that waited longest come first. */
  let servedAt = new Map<DueRun['tenantId'], number>();

  function memoryOf({ broadcastId, tenantId, updatedAt }: DueRun): Memory {
    const known = memories.get(broadcastId);
    if (known?.updatedAt === updatedAt) return known;
    const memory = { tenantId, updatedAt, nextAt: 0, passAfter: '', idle: undefined };
    memories.set(broadcastId, memory);
    return memory;
  }

  /** Forgets runs that have ended or are paused. */
  function keepOnly(due: readonly DueRun[]): void {
    const ids = new Set(due.map(({ broadcastId }) => broadcastId));
    for (const id of memories.keys()) if (!ids.has(id) && !running.has(id)) memories.delete(id);
    const tenants = new Set(due.map(({ tenantId }) => tenantId));
    servedAt = new Map([...servedAt].filter(([tenantId]) => tenants.has(tenantId)));
  }

  return {
    name: 'broadcasts',
    wakeOn: ['broadcasts'],
    concurrency: MAX_RUNNING,
    async lease(limit) {
      const now = clock.now();
      const elapsed = clock.elapsed();
      const due = await listDueRuns(db.read, now);
      keepOnly(due);
      const idle = due.filter(({ broadcastId }) => !running.has(broadcastId));
      const ready = idle.filter((run) => memoryOf(run).nextAt <= elapsed);
      // The run of a tenant that waits longest comes first, or a few that are checked often would keep the others waiting.
      const inTurn = ready.toSorted(
        (a, b) =>
          (servedAt.get(a.tenantId) ?? 0) - (servedAt.get(b.tenantId) ?? 0) ||
          memoryOf(a).nextAt - memoryOf(b).nextAt,
      );
      const items = oneOfEachTenant(inTurn).slice(0, limit);
      for (const { broadcastId, tenantId } of items) {
        running.add(broadcastId);
        servedAt.set(tenantId, elapsed);
      }
      const waits = idle.map((run) => now + Math.max(0, memoryOf(run).nextAt - elapsed));
      const scheduled = await findNextDueRun(db.read, now);
      const nextDueAt = Math.min(...waits, scheduled ?? Number.POSITIVE_INFINITY);
      return { items, nextDueAt: Number.isFinite(nextDueAt) ? nextDueAt : undefined };
    },
    async run(run) {
      const memory = memoryOf(run);
      try {
        const waitMs = await step(run, memory);
        memory.nextAt = clock.elapsed() + waitMs;
      } catch (error) {
        memory.nextAt = clock.elapsed() + PAUSE_AFTER_ERROR_MS;
        throw error;
      } finally {
        running.delete(run.broadcastId);
      }
    },
  };
}

/** Pause of a run after a step that failed, for example because the disk is full. */
const PAUSE_AFTER_ERROR_MS = 1_000;

/**
 * Returns the wait for the next copy under a pace, in milliseconds. A changed pace is noticed at once, and a clock that was set
 * soon.
 */
function pacedWait(untilNextMs: number): number {
  return Math.min(Math.max(untilNextMs, POLL_MS), MAX_POLL_MS);
}

/** Returns the wait for the delivery of copies, in milliseconds. It doubles while nothing changes. */
function idleWait(
  memory: Memory,
  { waiting, untried }: Pick<BroadcastCountsRow, 'waiting' | 'untried'>,
): number {
  const { idle } = memory;
  const isSame = idle !== undefined && idle.waiting === waiting && idle.untried === untried;
  const waitMs = isSame ? Math.min(2 * idle.waitMs, MAX_POLL_MS) : POLL_MS;
  memory.idle = { waiting, untried, waitMs };
  return waitMs;
}

function oneOfEachTenant(runs: readonly DueRun[]): DueRun[] {
  const tenants = new Set<string>();
  return runs.filter(({ tenantId }) => {
    const isFirst = !tenants.has(tenantId);
    tenants.add(tenantId);
    return isFirst;
  });
}

/** Returns the function that takes one step of a run, and answers after how many milliseconds the next one is worthwhile. */
function createStep(app: BroadcastApp) {
  const { db, clock, wakeups, log } = app;
  const walk = createWalk(app);

  async function passOn(memory: Memory, pass: typeof unparkCopies, broadcastId: DueRun['broadcastId']) {
    if (memory.passAfter === undefined) return;
    memory.passAfter = await db.commit(pass, { broadcastId, after: memory.passAfter, now: clock.now() });
    wakeups.notify('queue');
    wakeups.notify('suspects');
    wakeups.notify('events');
  }

  async function send(run: BroadcastRunRow, memory: Memory): Promise<number> {
    const { broadcastId } = run;
    const { updatedAt, passAfter } = memory;
    const isWalked = run.walkedAt !== null || (await walk(run));
    const age = maxAgeMs(app.config, 'broadcast');
    const { queues, hasMore, nextCopyAt, pausedReason } = await db.commit(makeCopies, {
      broadcastId,
      now: clock.now(),
      maxAgeMs: age,
    });
    if (queues.length > 0) {
      wakeups.notify('queue', queues);
      wakeups.notify('events');
    }
    if (pausedReason !== null) {
      log.warn({ broadcastId, tenantId: run.tenantId, pausedReason }, 'a broadcast was paused');
      wakeups.notify('events');
      return POLL_MS;
    }
    // Copies that are still parked have no time of their next attempt, and after the end nobody gives them one.
    if (!isWalked || hasMore || passAfter !== undefined) return 0;
    const counts = await findCounts(db.read, broadcastId);
    if (counts && counts.waiting > 0 && nextCopyAt !== null) return pacedWait(nextCopyAt - clock.now());
    if (!counts) return POLL_MS;
    if (counts.waiting > 0 || counts.untried > 0) return idleWait(memory, counts);
    if (await db.commit(endBroadcast, { broadcastId, updatedAt, now: clock.now() }))
      log.info(
        { broadcastId, tenantId: run.tenantId, recipients: counts.recipients },
        'a broadcast was sent',
      );
    return POLL_MS;
  }

  return async ({ broadcastId, status }: DueRun, memory: Memory): Promise<number> => {
    if (status === 'canceled') {
      await passOn(memory, cancelCopies, broadcastId);
      return 0;
    }
    if (status === 'scheduled') {
      return (await startScheduled(app, broadcastId)) ? 0 : RETRY_START_MS;
    }
    if (status !== 'sending') return POLL_MS;
    await passOn(memory, unparkCopies, broadcastId);
    return send(await getRun(db.read, broadcastId), memory);
  };
}
