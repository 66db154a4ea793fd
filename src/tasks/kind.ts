/** Describes one kind of background work. Each feature makes the values of its kinds. */
import type { Lease, LeasedTask, TaskEnd } from './store.ts';

/** At most `max` tasks of the kind run at the same time that name this key. */
export type Limit = { key: string; max: number };

/** Rules that hold for a queue at the moment. */
export type QueueRules = {
  /** Time before which none of its tasks runs, in Unix milliseconds. */
  pausedUntil?: number | undefined;
  /** Limits that its tasks share with those of other queues. */
  limits?: readonly Limit[];
};

/** A task while it runs. */
export type RunningTask = LeasedTask & {
  /** Is aborted when the daemon stops or the task was canceled; a run may ignore it. */
  signal: AbortSignal;
  /** Gives the slot back before the run has ended: for a run that has done its work, and only stores what it came to. */
  free(): void;
};

export type TaskKind = {
  /** Name in the table, in logs and in metrics. */
  name: string;
  /**
   * True when a run sends something to another host that changes something there. Such tasks wait while nothing may leave
   * (system/egress.ts). What only makes mail is not meant: mail waits in its queue.
   */
  leavesHost: boolean;
  /** Maximum number of tasks of the kind that run at the same time in this thread. */
  concurrency: number;
  /** Maximum number of tasks of one queue that run at the same time. As many as there are slots when it is missing. */
  concurrencyPerQueue?: number;
  /** Minimum time from one lease of tasks to the next, in milliseconds (system/worker.ts). */
  leaseIntervalMs?: number;
  /** Slots that a tenant may hold for each slot that is free (system/shares.ts): 1 when it is missing, so that one tenant alone has half of them. */
  perFree?: number;
  /**
   * Returns the delay after the run with this number that came to nothing, in milliseconds; undefined when the task is not run
   * again.
   */
  backOff(attempts: number): number | undefined;
  /** Runs once in each thread, before the first task. */
  prepare?(): Promise<void>;
  /** Returns the rules of a queue. It is asked again after each run of the queue and at each wake-up that names the queue. */
  rules?(queue: string): Promise<QueueRules>;
  /**
   * Does what the task asks for, and settles it: the write that stores the result of the run also runs `completeTask`,
   * `retryTask` or `failTask`, whose answer the run returns. An error that it throws is a bug: it is logged, and the task is
   * run again after a while, or given up.
   */
  run(task: RunningTask): Promise<TaskEnd>;
  /** Stores that a task is given up, and settles it. The task itself shows the error when this is missing. */
  giveUp?(task: LeasedTask, error: string): Promise<TaskEnd>;
};

/** Returns what identifies the lease of a task, for the input of a write. */
export function leaseOf({ kind, reference, runId, attempts }: LeasedTask): Lease {
  return { kind, reference, runId, attempts };
}
