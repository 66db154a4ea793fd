/**
 * Runs long jobs in the background: imports and exports. Two jobs run at a time, at most one of each tenant, and
 * tenants are served round-robin. Jobs that an earlier start of the daemon was running come first, because a crash
 * ends all leases.
 */
import type { App } from '../app.ts';
import type { Tx, Write } from '../db/operation.ts';
import type { TenantRow } from '../db/tables.ts';
import { jitter } from '../system/backoff.ts';
import { AppError, errorCode } from '../system/errors.ts';
import { type RunningWork, startWork, type Work } from '../system/worker.ts';
import { RoundRobin } from './round-robin.ts';

/**
 * Maximum number of concurrent jobs: one for each reader thread. An import also uses the writer for a large part of
 * its time.
 */
const CONCURRENCY = 2;
/** Delay after the first failed run of a job. It doubles with each further failure. Our own values. */
const MIN_RETRY_DELAY_MS = 5_000;
const MAX_RETRY_DELAY_MS = 300_000;
/**
 * A job is given up once it was started this long ago and its last runs have all failed: what has not passed by then needs
 * an operator, and the tenant must be able to start another job. The runs are counted from the start of the daemon, which
 * may itself have been away for a day. Our own values.
 */
const MAX_RETRY_AGE_MS = 24 * 3_600_000;
const MIN_FAILED_RUNS = 10;
/** Share by which the delay varies, so that jobs which failed together are not retried together. */
const RETRY_JITTER = 0.2;

/** A tenant with jobs that have not ended, and the time at which the first of them is due, in Unix milliseconds. */
export type WaitingTenant = { tenantId: TenantRow['id']; dueAt: number };
export type Lease = { tenantIds: readonly TenantRow['id'][]; now: number; until: number };

/** Defers a job that a run could not finish: nobody leases it before `until`. */
export type Deferral<Id extends string = string> = { id: Id; until: number };

type AnyJob = { id: string; tenantId: TenantRow['id']; startedAt: number | null };

export type Jobs<Job extends AnyJob> = {
  /** Name of the work, and of the wake-up that starts it. */
  name: 'imports' | 'exports';
  listWaiting(tx: Tx): Promise<WaitingTenant[]>;
  /** Leases the first due job of each tenant. */
  lease: Write<Lease, Job[]>;
  leaseMs: number;
  /** Makes jobs due that an earlier start of the daemon left leased. Returns their number. */
  release: Write<{ now: number }, number>;
  defer: Write<Deferral<Job['id']>, unknown>;
  /**
   * Runs and settles the job, unless it stops to be continued later. It must call `isStopping` regularly.
   *
   * @throws errors that may pass, after which the job is run again
   */
  run(job: Job, isStopping: () => boolean): Promise<void>;
  /** Settles a job as failed. The error is for the tenant. */
  fail(job: Job, error: string): Promise<unknown>;
};

type JobsApp = Pick<App, 'db' | 'clock' | 'log' | 'wakeups' | 'random'>;

/** Starts the jobs. `stop` does not wait for a job to end; it tells each to stop. */
export function startJobs<Job extends AnyJob>(app: JobsApp, jobs: Jobs<Job>): RunningWork {
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

function createJobWork<Job extends AnyJob>(
  app: JobsApp,
  jobs: Jobs<Job>,
  isStopping: () => boolean,
): Work<Job> {
  const tenants = new RoundRobin();
  const retry = createRetry(app, jobs);
  let released = false;
  return {
    name: jobs.name,
    wakeOn: [jobs.name],
    concurrency: CONCURRENCY,
    async lease(limit) {
      const now = app.clock.now();
      if (!released) await release(app, jobs, now);
      released = true;
      const tenantIds = tenants.choose(await jobs.listWaiting(app.db.read), { now, limit });
      if (tenantIds.length === 0) return [];
      const leased = await app.db.commit(jobs.lease, { tenantIds, now, until: now + jobs.leaseMs });
      for (const { tenantId } of leased) tenants.take(tenantId);
      return leased;
    },
    async run(job) {
      try {
        await jobs.run(job, isStopping);
        retry.forget(job);
      } catch (error) {
        await retry.defer(job, error);
      } finally {
        tenants.free(job.tenantId);
      }
    },
    nextDueAt: async () => tenants.nextDueAt(),
  };
}

/** Defers jobs whose run failed. Failures are counted in memory: after a restart every job is tried at once. */
function createRetry<Job extends AnyJob>({ db, clock, log, random }: JobsApp, jobs: Jobs<Job>) {
  /** Number of failures in a row of each job that has not ended. */
  const failures = new Map<Job['id'], number>();
  return {
    forget: (job: Job) => void failures.delete(job.id),
    async defer(job: Job, error: unknown): Promise<void> {
      const { id } = job;
      const failed = failures.get(id) ?? 0;
      failures.set(id, failed + 1);
      const ageMs = clock.now() - (job.startedAt ?? clock.now());
      if (ageMs >= MAX_RETRY_AGE_MS && failed + 1 >= MIN_FAILED_RUNS) {
        log.error({ err: error, work: jobs.name, jobId: id }, 'a job has failed for a day and is given up');
        await jobs.fail(
          job,
          `Our storage could not be used for 24 hours (${reasonOf(error)}); please start again`,
        );
        failures.delete(id);
        return;
      }
      const baseMs = Math.min(MIN_RETRY_DELAY_MS * 2 ** failed, MAX_RETRY_DELAY_MS);
      const delayMs = jitter(random, baseMs, RETRY_JITTER);
      log.warn({ err: error, work: jobs.name, jobId: id, delayMs }, 'a job failed and will be retried');
      // If this write fails as well, the job falls due when its lease ends.
      await db.commit(jobs.defer, { id, until: clock.now() + delayMs });
    },
  };
}

/** A code such as EIO. Messages may name files of the server, and are not for tenants. */
function reasonOf(error: unknown): string {
  const cause = error instanceof AppError ? (error.options.cause ?? error) : error;
  return errorCode(cause) ?? 'unavailable';
}

async function release<Job extends AnyJob>(
  { db, log }: JobsApp,
  jobs: Jobs<Job>,
  now: number,
): Promise<void> {
  const count = await db.commit(jobs.release, { now });
  if (count > 0) log.info({ work: jobs.name, count }, 'jobs were interrupted, and are taken up again');
}
