/**
 * The background work of imports: files that wait are taken in, two at a time and one of each tenant; what has ended is
 * removed after a week.
 */
import type { App } from '../app.ts';
import type { ImportRow } from '../db/marketing-tables.ts';
import { periodic, type RunningWork, startWork, type Work } from '../system/worker.ts';
import type { ImportHandlers } from './handler.ts';
import { type ImportApp, LEASE_MS, runImport } from './run.ts';
import { leaseImports, listWaiting, releaseImports, sweepImports } from './store.ts';
import { Turns } from './turns.ts';

/** Each keeps the writer busy for a good part of its time. */
const CONCURRENCY = 2;

type WorkerApp = ImportApp & Pick<App, 'notices'>;

/** Its `stop` waits for the write under way, not for the file: the next start goes on with that. */
export function startImports(app: WorkerApp, handlers: ImportHandlers): RunningWork {
  let isStopping = false;
  const running = startWork(
    app,
    createImportWork(app, handlers, () => isStopping),
  );
  return {
    stop(graceMs) {
      isStopping = true;
      return running.stop(graceMs);
    },
  };
}

function createImportWork(
  app: WorkerApp,
  handlers: ImportHandlers,
  isStopping: () => boolean,
): Work<ImportRow> {
  const turns = new Turns();
  let released = false;
  return {
    name: 'imports',
    wakeOn: ['imports'],
    concurrency: CONCURRENCY,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await releaseAll(app, now);
      released = true;
      const tenantIds = turns.choose(await listWaiting(app.db.read), { now, limit });
      if (tenantIds.length === 0) return [];
      const leased = await app.db.commit(leaseImports, { tenantIds, now, until: now + LEASE_MS });
      for (const { tenantId } of leased) turns.take(tenantId);
      return leased;
    },
    async run(job) {
      try {
        const end = await runImport(app, handlers[job.kind], job, isStopping);
        app.log.info({ importId: job.id, kind: job.kind, end }, 'import ran');
      } finally {
        turns.free(job.tenantId);
      }
    },
    nextDueAt: async () => turns.nextDueAt(),
  };
}

async function releaseAll(app: WorkerApp, now: number): Promise<void> {
  const count = await app.db.commit(releaseImports, { now });
  if (count > 0) app.log.info({ count }, 'imports were interrupted, and go on');
}

/** Long enough to look at what went wrong. */
const KEPT_MS = 7 * 86_400_000;
const SWEEP_PERIOD_MS = 3_600_000;

export function createImportSweep(app: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'import sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const before = app.clock.now() - KEPT_MS;
      let removed: number;
      do {
        removed = await app.db.commit(sweepImports, { before });
      } while (removed > 0);
    },
  });
}
