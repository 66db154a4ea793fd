/**
 * The background work of one kind of task. It leases due tasks, a few of each queue, runs them, and settles each with the
 * outcome that its run returned. A task may run twice, after a crash or when a run outlasts its lease, so each kind is
 * idempotent.
 */
import { commitOutcome } from '../../db/commit-outcome.ts';
import type { Random } from '../../system/random.ts';
import type { Leased, Work } from '../../system/worker.ts';
import type { PartApp } from '../../thread-app.ts';
import { retryDelayMs } from '../../webhooks/posting/schedule.ts';
import { leaseTasks } from './lease.ts';
import { listWaitingQueues, type WaitingQueue } from './read-store.ts';
import { settleTask } from './settle.ts';
import { type TaskClaim, TaskSlots } from './slots.ts';
import {
  INTERRUPTED,
  isUsedUp,
  type LeasedTask,
  releaseTasks,
  type Settlement,
  type TaskKind,
  type TaskResult,
} from './store.ts';

/** Response of another server to a task, such as the receiver of a post. */
type TaskResponse = { status: number; timeMs: number; body: string };

/**
 * Outcome of an attempt. A `retry` follows the schedule of webhooks, at least `afterMs` later, and becomes a failure when
 * the attempts are used up.
 */
export type TaskOutcome = { response?: TaskResponse } & (
  | { kind: 'done' }
  | { kind: 'retry'; error: string; afterMs?: number | undefined }
  | { kind: 'failed'; error: string }
  /** The run has settled the task itself, unless its lease was no longer valid. */
  | { kind: 'settled'; isSettled: boolean }
);

type UnsettledOutcome = Exclude<TaskOutcome, { kind: 'settled' }>;

export type TaskKindWork = {
  kind: TaskKind;
  /** Maximum number of tasks of the kind that run at the same time. */
  concurrency: number;
  /**
   * Does what the task asks for. It ends well before `LEASE_MS`. An error that it throws is a bug: it is logged, and the
   * task is tried again.
   */
  run(task: LeasedTask): Promise<TaskOutcome>;
};

type TaskApp = Pick<PartApp, 'db' | 'clock' | 'random' | 'crashPoint' | 'log' | 'metrics' | 'runId'>;

/** Length of a lease, in milliseconds: several times what the slowest kind may take. */
const LEASE_MS = 120_000;
/**
 * Minimum time between two readings of the list of queues, in milliseconds: with a thousand queues a reading takes
 * milliseconds, and every message that arrives wakes the work.
 */
const MIN_LIST_INTERVAL_MS = 20;

/** Returns the work that runs the tasks of one kind. */
export function createTaskWork(app: TaskApp, { kind, concurrency, run }: TaskKindWork): Work<LeasedTask> {
  const outcomes = app.metrics.counter('inbound_tasks_total', 'Attempts of tasks of received mail.', [
    'kind',
    'outcome',
  ]);
  const slots = new TaskSlots(concurrency);
  const queues = createQueueList(app, kind);
  let released = false;

  /** Leases the tasks of the claims, and frees the slots for which there was no task any more. */
  async function lease(claims: readonly TaskClaim[], now: number): Promise<LeasedTask[]> {
    if (claims.length === 0) return [];
    const leases = { kind, claims, now, until: now + LEASE_MS, runId: app.runId };
    const leased = await app.db.commit(leaseTasks, leases).catch((error) => {
      for (const claim of claims) slots.free(claim, claim.limit);
      throw error;
    });
    const found = Map.groupBy(leased, ({ queue }) => queue);
    for (const claim of claims) {
      const missing = claim.limit - (found.get(claim.queue)?.length ?? 0);
      if (missing > 0) queues.drop(claim.queue);
      slots.free(claim, missing);
    }
    return leased;
  }

  return {
    name: `inbound ${kind}`,
    wakeOn: ['inbound'],
    concerns: (subjects) => subjects?.includes(kind) ?? true,
    concurrency,
    async lease(limit): Promise<Leased<LeasedTask>> {
      const now = app.clock.now();
      if (!released) await release(app, kind, now);
      released = true;
      const isFresh = queues.readableInMs() === 0;
      if (isFresh) await queues.read();
      const waiting = queues.known();
      const items = await lease(slots.take(waiting, { now, limit }), now);
      if (items.length > 0) return { items, nextDueAt: now };
      const next = waiting.find(({ dueAt }) => dueAt > now)?.dueAt;
      return { items, nextDueAt: isFresh ? next : now + queues.readableInMs() };
    },
    async run(task) {
      try {
        const outcome = await runTask(app, task, run);
        outcomes.inc({ kind, outcome: outcome.kind });
      } finally {
        slots.free(task, 1);
      }
    },
  };
}

/** Holds the queues with pending tasks, as they were last read. Those without a due task leave the list. */
function createQueueList({ db, clock }: Pick<TaskApp, 'db' | 'clock'>, kind: TaskKind) {
  let waiting: readonly WaitingQueue[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    known: () => waiting,
    drop(queue: string): void {
      waiting = waiting.filter((one) => one.queue !== queue);
    },
    readableInMs: () => Math.max(0, readAt + MIN_LIST_INTERVAL_MS - clock.elapsed()),
    async read(): Promise<void> {
      readAt = clock.elapsed();
      waiting = await listWaitingQueues(db.read, kind);
    },
  };
}

/** Releases the tasks that an earlier run of the daemon or of its thread left in flight. */
async function release(app: TaskApp, kind: TaskKind, now: number): Promise<void> {
  const count = await app.db.commit(releaseTasks, { kind, now, runId: app.runId });
  if (count > 0) app.log.warn({ kind, count }, 'tasks of received mail were interrupted, and are run again');
}

async function runTask(app: TaskApp, task: LeasedTask, run: TaskKindWork['run']): Promise<TaskOutcome> {
  app.crashPoint('inbound-task-leased', task.kind);
  const outcome = isUsedUp(task)
    ? ({ kind: 'failed', error: INTERRUPTED } as const)
    : await run(task).catch((error: unknown): TaskOutcome => {
        app.log.error({ taskId: task.id, kind: task.kind, err: error }, 'a task of received mail failed');
        return { kind: 'retry', error: 'The server failed to run the task' };
      });
  app.crashPoint('inbound-task-run', task.kind);
  const isSettled = outcome.kind === 'settled' ? outcome.isSettled : await settle(app, task, outcome);
  app.crashPoint('inbound-task-settled', task.kind);
  const { id: taskId, kind, attempts } = task;
  if (!isSettled) app.log.warn({ taskId, kind, attempts }, 'a task ended after its lease ran out');
  return outcome;
}

/** Settles a task. Returns false when its lease is no longer valid. */
async function settle(app: TaskApp, task: LeasedTask, outcome: UnsettledOutcome): Promise<boolean> {
  const now = app.clock.now();
  const result = resultOf(task, outcome, { now, random: app.random });
  const isSettled = await commitOutcome(app, settleTask, settlementOf(task, result, now));
  const { id: taskId, kind, messageId } = task;
  if (isSettled && result.state === 'failed')
    app.log.warn({ taskId, kind, messageId, error: result.error }, 'a task of received mail was given up');
  return isSettled;
}

/** The outcome of a task that is done without a post. Tasks whose writes also store other rows settle with it. */
export const DONE = {
  state: 'done',
  dueAt: null,
  responseStatus: null,
  responseTimeMs: null,
  responseBody: null,
  error: null,
} as const;

/** Returns what `settleLeased` stores about an attempt. */
export function settlementOf(
  { id, messageId, attempts, runId }: LeasedTask,
  result: TaskResult,
  now: number,
): Settlement {
  return { id, messageId, attempts, runId, ...result, now };
}

function resultOf(
  { attempts }: LeasedTask,
  outcome: UnsettledOutcome,
  { now, random }: { now: number; random: Random },
): TaskResult {
  const { response } = outcome;
  const last = {
    responseStatus: response?.status ?? null,
    responseTimeMs: response?.timeMs ?? null,
    responseBody: response?.body ?? null,
    error: outcome.kind === 'done' ? null : outcome.error,
  };
  if (outcome.kind !== 'retry') return { ...last, state: outcome.kind, dueAt: null };
  const delayMs = retryDelayMs({ attempts, retryAfterMs: outcome.afterMs }, random);
  return delayMs === undefined
    ? { ...last, state: 'failed', dueAt: null }
    : { ...last, state: 'pending', dueAt: now + delayMs };
}
