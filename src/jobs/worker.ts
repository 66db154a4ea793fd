/**
 * The background work of jobs: imports and exports. At most one job of each tenant runs at a time, and tenants are
 * served round-robin. Jobs that an earlier start of the daemon was running come first, because a crash ends all leases.
 */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { READER_THREADS } from '../db/reader-pool.ts';
import { periodic, type RunningWork, startWork, type Work } from '../system/worker.ts';
import { createRetry } from './retry.ts';
import { type JobApp, type Jobs, LEASE_MS, runJob } from './run.ts';
import { leaseJobs, listWaiting, releaseJobs, sweepJobs } from './store.ts';
import { TenantOrder } from './tenant-order.ts';

/**
 * Maximum number of concurrent jobs of a type: one for each reader thread, since an export reads all the time. An import
 * also uses the writer for a large part of its time.
 */
const CONCURRENCY = READER_THREADS;

type WorkerApp = JobApp & Pick<App, 'wakeups' | 'random'>;

/** Starts the jobs of a type. `stop` does not wait for a job to end; it tells each to stop. */
export function startJobs(app: WorkerApp, jobs: Jobs): RunningWork {
  let isStopping = false;
  const running = startWork(
    app,
    createJobWork(app, jobs, () => isStopping),
  );
  return {
    stop(graceMs) {
      isStopping = true;
      return running.stop(graceMs);
    },
  };
}

function createJobWork(app: WorkerApp, jobs: Jobs, isStopping: () => boolean): Work<JobRow> {
  const { type } = jobs;
  const tenants = new TenantOrder();
  const retry = createRetry(app);
  let released = false;
  return {
    name: `${type}s`,
    wakeOn: ['jobs'],
    concurrency: CONCURRENCY,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await release(app, type, now);
      released = true;
      const tenantIds = tenants.choose(await listWaiting(app.db.read, type), { now, limit });
      if (tenantIds.length === 0) return { items: [], nextDueAt: tenants.nextDueAt() };
      const items = await app.db.commit(leaseJobs, { type, tenantIds, now, until: now + LEASE_MS });
      for (const { tenantId } of items) tenants.begin(tenantId);
      return { items, nextDueAt: tenants.nextDueAt() };
    },
    async run(job) {
      try {
        const end = await runJob(app, jobs, { job, isStopping });
        app.log.info({ jobId: job.id, type, kind: job.kind, end }, 'job ran');
        retry.forget(job);
      } catch (error) {
        await retry.defer(job, error);
      } finally {
        tenants.end(job.tenantId);
      }
    },
  };
}

async function release({ db, log }: WorkerApp, type: JobRow['type'], now: number): Promise<void> {
  const count = await db.commit(releaseJobs, { type, now });
  if (count > 0) log.info({ type, count }, 'jobs were interrupted, and are taken up again');
}

/**
 * Time for which an ended job is kept: long enough for its owner to read the errors of an import, and short because the
 * file of an export may contain data that its owner has deleted since.
 */
const KEPT_MS = 7 * 86_400_000;
const SWEEP_PERIOD_MS = 3_600_000;

/** Returns the work that removes ended jobs, with their errors and files. */
export function createJobSweep({ db, blobs, clock }: Pick<App, 'db' | 'clock' | 'blobs'>): Work<'run'> {
  return periodic(clock, {
    name: 'job sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const before = clock.now() - KEPT_MS;
      for (;;) {
        const removal = await db.commit(sweepJobs, { before });
        if (!removal) return;
        if (removal.file) await blobs.discard(removal.file);
      }
    },
  });
}
