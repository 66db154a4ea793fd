/** The background work of imports: it runs waiting imports, and removes ended ones after a week. */
import type { App } from '../app.ts';
import { periodic, type RunningWork, type Work } from '../system/worker.ts';
import type { ImportHandlers } from './handler.ts';
import { startJobs } from './jobs.ts';
import { failImport, type ImportApp, LEASE_MS, runImport } from './run.ts';
import { deferImport, leaseImports, listWaiting, releaseImports, sweepImports } from './store.ts';

/** Starts the imports. `stop` waits for the running write, not for the file, which the next start continues. */
export function startImports(
  app: ImportApp & Pick<App, 'wakeups' | 'random'>,
  handlers: ImportHandlers,
): RunningWork {
  return startJobs(app, {
    name: 'imports',
    listWaiting,
    lease: leaseImports,
    leaseMs: LEASE_MS,
    release: releaseImports,
    defer: deferImport,
    fail: (job, error) => failImport(app, job, error),
    async run(job, isStopping) {
      const end = await runImport(app, handlers[job.kind], job, isStopping);
      app.log.info({ importId: job.id, kind: job.kind, end }, 'import ran');
    },
  });
}

/** Time for which an ended import is kept, so that its owner can read the errors. */
const KEPT_MS = 7 * 86_400_000;
const SWEEP_PERIOD_MS = 3_600_000;

/** Returns the work that removes ended imports. */
export function createImportSweep(app: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'import sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const before = app.clock.now() - KEPT_MS;
      while (await app.db.commit(sweepImports, { before }));
    },
  });
}
