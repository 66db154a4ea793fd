/**
 * The background work of exports: lists that wait are written into files, two at a time and one of each tenant; what has
 * ended is removed after a week, its file with it.
 */
import type { App } from '../app.ts';
import type { ExportRow } from '../db/marketing-tables.ts';
import { Turns } from '../imports/turns.ts';
import { periodic, type RunningWork, startWork, type Work } from '../system/worker.ts';
import type { ExportHandlers } from './handler.ts';
import { type ExportApp, runExport } from './run.ts';
import { leaseExports, listWaiting, releaseExports, sweepExports } from './store.ts';

/** As many as there are reader threads. */
const CONCURRENCY = 2;
/** For what could not be settled. Within a start the turns see to it that nothing is run twice; a crash ends all leases. */
const LEASE_MS = 60_000;

type WorkerApp = ExportApp & Pick<App, 'notices'>;

/** Its `stop` waits for the slice under way, not for the file: the next start writes that anew. */
export function startExports(app: WorkerApp, handlers: ExportHandlers): RunningWork {
  let isStopping = false;
  const running = startWork(
    app,
    createExportWork(app, handlers, () => isStopping),
  );
  return {
    stop(graceMs) {
      isStopping = true;
      return running.stop(graceMs);
    },
  };
}

function createExportWork(
  app: WorkerApp,
  handlers: ExportHandlers,
  isStopping: () => boolean,
): Work<ExportRow> {
  const turns = new Turns();
  let released = false;
  return {
    name: 'exports',
    wakeOn: ['exports'],
    concurrency: CONCURRENCY,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await releaseAll(app, now);
      released = true;
      const tenantIds = turns.choose(await listWaiting(app.db.read), { now, limit });
      if (tenantIds.length === 0) return [];
      const leased = await app.db.commit(leaseExports, { tenantIds, now, until: now + LEASE_MS });
      for (const { tenantId } of leased) turns.take(tenantId);
      return leased;
    },
    async run(job) {
      try {
        const end = await runExport(app, handlers[job.kind], job, isStopping);
        app.log.info({ exportId: job.id, kind: job.kind, end }, 'export ran');
      } finally {
        turns.free(job.tenantId);
      }
    },
    nextDueAt: async () => turns.nextDueAt(),
  };
}

async function releaseAll(app: WorkerApp, now: number): Promise<void> {
  const count = await app.db.commit(releaseExports, { now });
  if (count > 0) app.log.info({ count }, 'exports were interrupted, and begin anew');
}

/** The file holds what its owner may have deleted since. */
const KEPT_MS = 7 * 86_400_000;
const SWEEP_PERIOD_MS = 3_600_000;

export function createExportSweep(app: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'export sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const before = app.clock.now() - KEPT_MS;
      let removed: number;
      do {
        removed = await app.db.commit(sweepExports, { before });
      } while (removed > 0);
    },
  });
}
