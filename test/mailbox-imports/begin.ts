/** Begins a run of each import that is due, one of each tenant, as the engine does. */
import type { App } from '../../src/app.ts';
import { beginRun, MAILBOX_IMPORTS, type RunningImport } from '../../src/mailbox-imports/store.ts';
import { leaseOf } from '../../src/tasks/kind.ts';
import { leaseTasksOf } from '../support/tasks.ts';

export async function beginRuns(app: Pick<App, 'db' | 'clock' | 'runId'>): Promise<RunningImport[]> {
  const tasks = await leaseTasksOf(app, { kind: MAILBOX_IMPORTS });
  const now = app.clock.now();
  const rows = await Promise.all(tasks.map((task) => app.db.commit(beginRun, { lease: leaseOf(task), now })));
  return rows.filter((row) => row !== undefined);
}
