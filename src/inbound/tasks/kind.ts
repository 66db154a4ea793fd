/**
 * Tasks of received messages as kinds of the task engine (tasks/kind.ts). A task may run twice, after a crash, so each kind is
 * idempotent.
 */
import { commitOutcome } from '../../db/commit-outcome.ts';
import { defineWrite } from '../../db/operation.ts';
import type { Random } from '../../system/random.ts';
import { leaseOf, type RunningTask, type TaskKind } from '../../tasks/kind.ts';
import { completeTask, type LeasedTask, type TaskEnd } from '../../tasks/store.ts';
import type { PartApp } from '../../thread-app.ts';
import { postRetryDelayMs, RETRY_DELAYS_MS } from '../../webhooks/posting/schedule.ts';
import { type SenderReportAction, scheduleSenderReport } from '../sender-reports.ts';
import { findReceivedTask, type ReceivedTask } from './read-store.ts';
import { engineKindOf, type ReceivedKind, type Settlement, settleReceived, type TaskId } from './store.ts';

/**
 * Outcome of an attempt. A `retry` follows the schedule of webhooks, and becomes a failure when the attempts are used up.
 */
export type TaskOutcome =
  /** `report` is what the sender of the message is told; undefined where nothing is. */
  | { kind: 'done'; report?: SenderReportAction | undefined }
  | { kind: 'retry'; error: string }
  | { kind: 'failed'; error: string }
  /** The run has settled the task itself. */
  | { kind: 'settled'; end: TaskEnd };

type UnsettledOutcome = Exclude<TaskOutcome, { kind: 'settled' }>;

/** A received task while it runs. */
export type RunningReceivedTask = ReceivedTask & Pick<Settlement, 'lease'>;

type ReceivedKindWork = {
  kind: ReceivedKind;
  /** Maximum number of tasks of the kind that run at the same time. */
  concurrency: number;
  /** The report to the sender about a task that has failed for good; by default there is none. */
  reportOfEnd?: SenderReportAction;
  /** Does what the task asks for. An error that it throws is a bug: it is logged, and the task is tried again. */
  run(task: RunningReceivedTask): Promise<TaskOutcome>;
};

/** A tenant alone gets three quarters of the slots. */
const HELD_PER_FREE = 3;

/** Returns the kind that runs the tasks of this kind of received messages. */
export function createReceivedKind(
  app: PartApp,
  { kind, concurrency, reportOfEnd, run }: ReceivedKindWork,
): TaskKind {
  const outcomes = app.metrics.counter('inbound_tasks_total', 'Attempts of tasks of received mail.', [
    'kind',
    'outcome',
  ]);

  async function attempt(task: RunningTask, received: ReceivedTask): Promise<TaskOutcome> {
    try {
      return await run({ ...received, lease: leaseOf(task) });
    } catch (error) {
      if (task.signal.aborted) throw error;
      app.log.error({ taskId: received.id, kind, err: error }, 'a task of received mail failed');
      return { kind: 'retry', error: 'The server failed to run the task' };
    }
  }

  return {
    name: engineKindOf(kind),
    leavesHost: false,
    concurrency,
    perFree: HELD_PER_FREE,
    backOff: (attempts) => RETRY_DELAYS_MS[attempts - 1],
    async run(task) {
      const received = await findReceivedTask(app.db.read, task.reference as TaskId);
      if (!received) return app.db.commit(completeTask, leaseOf(task));
      const outcome = await attempt(task, received);
      app.crashPoint('inbound-task-run', kind);
      outcomes.inc({ kind, outcome: outcome.kind });
      return outcome.kind === 'settled' ? outcome.end : settle(app, task, { outcome, received, reportOfEnd });
    },
    giveUp: async (task, error) => {
      const received = await findReceivedTask(app.db.read, task.reference as TaskId);
      return settle(app, task, { outcome: { kind: 'failed', error }, received, reportOfEnd });
    },
  };
}

type Settled = { settlement: Settlement; report: Parameters<typeof scheduleSenderReport>[1] | undefined };

const settleTask = defineWrite(
  'inbound.settleTask',
  async (tx, { settlement, report }: Settled): Promise<TaskEnd> => {
    const end = await settleReceived(tx, settlement);
    if (report && end !== 'stale') await scheduleSenderReport(tx, report);
    return end;
  },
);

type Ended = {
  outcome: UnsettledOutcome;
  received: ReceivedTask | undefined;
  reportOfEnd: SenderReportAction | undefined;
};

async function settle(
  app: PartApp,
  task: LeasedTask,
  { outcome, received, reportOfEnd }: Ended,
): Promise<TaskEnd> {
  const now = app.clock.now();
  const lease = leaseOf(task);
  const settlement = { lease, now, ...resultOf(lease, outcome, { now, random: app.random }) };
  const { state, error } = settlement;
  const done = outcome.kind === 'done' ? outcome.report : undefined;
  const action = state === 'failed' ? reportOfEnd : done;
  const report = action && received && { ...received, action, dueAt: now };
  const end = await commitOutcome(app, settleTask, { settlement, report });
  const { kind, reference: taskId } = lease;
  if (end !== 'stale' && state === 'failed')
    app.log.warn({ taskId, kind, error }, 'a task of received mail was given up');
  return end;
}

function resultOf(
  { attempts }: Settlement['lease'],
  outcome: UnsettledOutcome,
  { now, random }: { now: number; random: Random },
): Pick<Settlement, 'state' | 'dueAt' | 'error'> {
  if (outcome.kind === 'done') return { state: 'done', dueAt: null, error: null };
  const { error } = outcome;
  const delayMs =
    outcome.kind === 'retry' ? postRetryDelayMs({ attempts, retryAfterMs: undefined }, random) : undefined;
  return delayMs === undefined
    ? { state: 'failed', dueAt: null, error }
    : { state: 'pending', dueAt: now + delayMs, error };
}
