/**
 * The background work of jobs that take long, files to be taken in and files to be written: two at a time and one of each
 * tenant, in turns. What an earlier start of the daemon was at comes first: a crash ends all leases.
 */
import type { App } from '../app.ts';
import type { Tx, Write } from '../db/operation.ts';
import type { TenantRow } from '../db/tables.ts';
import { type RunningWork, startWork, type Work } from '../system/worker.ts';
import { Turns } from './turns.ts';

/** As many as there are reader threads; and each import keeps the writer busy for a good part of its time. */
const CONCURRENCY = 2;

/** When the first job of a tenant that has not ended falls due. */
export type WaitingTenant = { tenantId: TenantRow['id']; dueAt: number };
export type Lease = { tenantIds: readonly TenantRow['id'][]; now: number; until: number };

export type Jobs<Job extends { tenantId: TenantRow['id'] }> = {
  /** The work, and what wakes it. */
  name: 'imports' | 'exports';
  listWaiting(tx: Tx): Promise<WaitingTenant[]>;
  /** Takes the first that is due of each tenant. */
  lease: Write<Lease, Job[]>;
  leaseMs: number;
  /** Lets what was leased fall due. Answers how many. */
  release: Write<{ now: number }, number>;
  /** Settles the job, unless it is to be taken up later: `isStopping` is to be asked again and again. */
  run(job: Job, isStopping: () => boolean): Promise<void>;
};

type JobsApp = Pick<App, 'db' | 'clock' | 'log' | 'notices'>;

/** Its `stop` waits for no job, only until each has been told to stop. */
export function startJobs<Job extends { tenantId: TenantRow['id'] }>(
  app: JobsApp,
  jobs: Jobs<Job>,
): RunningWork {
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

function createJobWork<Job extends { tenantId: TenantRow['id'] }>(
  app: JobsApp,
  jobs: Jobs<Job>,
  isStopping: () => boolean,
): Work<Job> {
  const turns = new Turns();
  let released = false;
  return {
    name: jobs.name,
    wakeOn: [jobs.name],
    concurrency: CONCURRENCY,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await release(app, jobs, now);
      released = true;
      const tenantIds = turns.choose(await jobs.listWaiting(app.db.read), { now, limit });
      if (tenantIds.length === 0) return [];
      const leased = await app.db.commit(jobs.lease, { tenantIds, now, until: now + jobs.leaseMs });
      for (const { tenantId } of leased) turns.take(tenantId);
      return leased;
    },
    async run(job) {
      try {
        await jobs.run(job, isStopping);
      } finally {
        turns.free(job.tenantId);
      }
    },
    nextDueAt: async () => turns.nextDueAt(),
  };
}

async function release<Job extends { tenantId: TenantRow['id'] }>(
  { db, log }: JobsApp,
  jobs: Jobs<Job>,
  now: number,
): Promise<void> {
  const count = await db.commit(jobs.release, { now });
  if (count > 0) log.info({ work: jobs.name, count }, 'jobs were interrupted, and are taken up again');
}
