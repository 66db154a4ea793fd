/** The data dictionary: background work. The conventions are those of tables.ts, which lists every table. */
import { id, integer, nullable, type Row, table, text } from './table.ts';

/**
 * Written by tasks/store.ts: one thing that is to be done in the background. A task waits (`dueAt`), is leased (`runId`), or
 * has failed (neither). A leased task with `dueAt` was scheduled anew meanwhile, and waits again when its run has ended.
 */
export const tasks = table({
  kind: text(),
  /** Id of the row that the task is about. A kind has at most one task for it. */
  reference: text(),
  /** Names the queue of the task. Tasks of a queue share its limits, such as those to one endpoint. */
  queueKey: text(),
  /** Owner of the task; null for work of the installation itself. */
  tenantId: nullable(id('ten')),
  dueAt: nullable(integer()),
  /** Number of runs without progress, the present one included. */
  attempts: integer(),
  /** Run of the daemon, or of its thread, that has leased the task. */
  runId: nullable(text()),
  /** Why the task has failed. */
  error: nullable(text()),
});
export type TaskRow = Row<typeof tasks>;
