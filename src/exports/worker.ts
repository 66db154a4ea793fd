/** The background work of exports: it runs waiting exports, and removes ended ones with their files after a week. */
import type { App } from '../app.ts';
import { startJobs } from '../imports/jobs.ts';
import { periodic, type RunningWork, type Work } from '../system/worker.ts';
import type { ExportHandlers } from './handler.ts';
import { type ExportApp, failExport, runExport } from './run.ts';
import { deferExport, leaseExports, listWaiting, releaseExports, sweepExports } from './store.ts';

/** Length of a lease, for jobs that could not be settled. Within a start no job runs twice; a crash ends all leases. */
const LEASE_MS = 60_000;

/** Starts the exports. `stop` waits for the running slice, not for the file, which the next start writes again. */
export function startExports(
  app: ExportApp & Pick<App, 'wakeups' | 'random'>,
  handlers: ExportHandlers,
): RunningWork {
  return startJobs(app, {
    name: 'exports',
    listWaiting,
    lease: leaseExports,
    leaseMs: LEASE_MS,
    release: releaseExports,
    defer: deferExport,
    fail: (job, error) => failExport(app, job, error),
    async run(job, isStopping) {
      const end = await runExport(app, handlers[job.kind], job, isStopping);
      app.log.info({ exportId: job.id, kind: job.kind, end }, 'export ran');
    },
  });
}

/**
 * Time for which an ended export is kept. It is short, because the file may contain data that its owner has deleted
 * since.
 */
const KEPT_MS = 7 * 86_400_000;
const SWEEP_PERIOD_MS = 3_600_000;

/** Returns the work that removes ended exports. */
export function createExportSweep(app: Pick<App, 'db' | 'clock' | 'blobs'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'export sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const before = app.clock.now() - KEPT_MS;
      for (;;) {
        const files = await app.db.commit(sweepExports, { before });
        if (files.length === 0) return;
        for (const file of files) if (file) await app.blobs.discard(file);
      }
    },
  });
}
