/**
 * The background work of exports: lists that wait are written into files, two at a time and one of each tenant; what has
 * ended is removed after a week, its file with it.
 */
import type { App } from '../app.ts';
import { startJobs } from '../imports/jobs.ts';
import { periodic, type RunningWork, type Work } from '../system/worker.ts';
import type { ExportHandlers } from './handler.ts';
import { type ExportApp, failExport, runExport } from './run.ts';
import { deferExport, leaseExports, listWaiting, releaseExports, sweepExports } from './store.ts';

/** For what could not be settled. Within a start the turns see to it that nothing is run twice; a crash ends all leases. */
const LEASE_MS = 60_000;

/** Its `stop` waits for the slice under way, not for the file: the next start writes that anew. */
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

/** The file holds what its owner may have deleted since. */
const KEPT_MS = 7 * 86_400_000;
const SWEEP_PERIOD_MS = 3_600_000;

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
