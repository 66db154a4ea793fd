/** The data dictionary: background work. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/**
 * Written by tasks/store.ts: one thing that is to be done in the background. A task waits (`dueAt`), is leased (`runId`), or
 * has failed (neither). A leased task with `dueAt` was scheduled anew meanwhile, and waits again when its run has ended.
 */
export type TaskRow = {
  kind: string;
  /** Id of the row that the task is about. A kind has at most one task for it. */
  reference: string;
  /** Names the queue of the task. Tasks of a queue share its limits, such as those to one endpoint. */
  queueKey: string;
  /** Owner of the task; null for work of the installation itself. */
  tenantId: Id<'ten'> | null;
  dueAt: number | null;
  /** Number of runs without progress, the present one included. */
  attempts: number;
  /** Run of the daemon, or of its thread, that has leased the task. */
  runId: string | null;
  /** Why the task has failed. */
  error: string | null;
};
