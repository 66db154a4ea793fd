/** Runs jobs as tasks, defers those whose run failed, and ends as failed those that cannot succeed or have been failing for a day. */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { READER_THREADS } from '../db/reader-pool.ts';
import { mayPass } from '../db/storage-failure.ts';
import { jitter } from '../system/backoff.ts';
import { AppError, errorCode } from '../system/errors.ts';
import { leaseOf, type RunningTask, type TaskKind } from '../tasks/kind.ts';
import { retryTask, type TaskEnd } from '../tasks/store.ts';
import { beginJob, failJob, JOB_KINDS, type RunningJob } from './store.ts';

/**
 * Result of a run. `stopped`: the daemon is stopping, and its next start runs the job again. `stale`: the job had ended,
 * or another run has continued it.
 */
export type RunEnd = 'completed' | 'failed' | 'stopped' | 'stale';

/** A type of job: what its run does. */
export type Jobs = {
  type: JobRow['type'];
  /** Error of a job that failed because of a bug, for the tenant. */
  internalFailure: string;
  /**
   * Runs the job. It ends the job unless it stops early. It must call `isStopping` regularly.
   *
   * @throws AppError with a message for the tenant; errors that may pass, after which the job is run again
   */
  run(job: RunningJob, isStopping: () => boolean): Promise<RunEnd>;
};

/**
 * Maximum number of concurrent jobs of a type: one for each reader thread, since an export reads all the time. An import
 * also uses the writer for a large part of its time.
 */
const CONCURRENCY = READER_THREADS;
/** Delay after the first failed run of a job. It doubles with each further failure. */
const MIN_RETRY_DELAY_MS = 5_000;
const MAX_RETRY_DELAY_MS = 300_000;
/** Share by which the delay varies, so that jobs which failed together are not retried together. */
const RETRY_JITTER = 0.2;
/**
 * A job fails for good once it was started this long ago and its last runs have all failed: such an error needs an
 * operator, and the tenant must be able to start another job.
 */
const MAX_RETRY_AGE_HOURS = 24;
const MAX_RETRY_AGE_MS = MAX_RETRY_AGE_HOURS * 3_600_000;
const MIN_FAILED_RUNS = 10;
/** Number of runs after which a job fails that ends the daemon each time: about a day of them. */
const MAX_RUNS = 300;

/** Returns the jobs of a type as a kind of task. At most one job of each tenant runs at a time. */
export function createJobKind(app: App, jobs: Jobs): TaskKind {
  const backOff = (attempts: number) =>
    jitter(app.random, Math.min(MIN_RETRY_DELAY_MS * 2 ** (attempts - 1), MAX_RETRY_DELAY_MS), RETRY_JITTER);
  return {
    name: JOB_KINDS[jobs.type],
    leavesHost: false,
    concurrency: CONCURRENCY,
    concurrencyPerQueue: 1,
    backOff: (attempts) => (attempts < MAX_RUNS ? backOff(attempts) : undefined),
    async run(task) {
      const lease = leaseOf(task);
      const job = await app.db.commit(beginJob, { lease, now: app.clock.now() });
      if (!job) return 'done';
      const { id: jobId, type, kind } = job;
      try {
        const end = await runJob(app, jobs, { job, isStopping: () => task.signal.aborted });
        app.log.info({ jobId, type, kind, end }, 'job ran');
        if (end === 'stopped') throw new AppError('unavailable', 'The daemon ends');
        return end === 'stale' ? end : 'done';
      } catch (error) {
        if (task.signal.aborted) throw error;
        if (await giveUpAfterDay(app, { job, task, error })) return 'done';
        const delayMs = backOff(task.attempts);
        app.log.warn({ err: error, type, jobId, delayMs }, 'a job failed and will be retried');
        return app.db.commit(retryTask, { lease, dueAt: app.clock.now() + delayMs });
      }
    },
    async giveUp(task): Promise<TaskEnd> {
      return (await fail(app, leaseOf(task), jobs.internalFailure)) === 'stale' ? 'stale' : 'done';
    },
  };
}

type Failure = { job: RunningJob; task: RunningTask; error: unknown };

/** Ends a job as failed whose runs have failed for a day. Returns false for any other. */
async function giveUpAfterDay(app: App, { job, task, error }: Failure): Promise<boolean> {
  const ageMs = app.clock.now() - (job.startedAt ?? app.clock.now());
  if (ageMs < MAX_RETRY_AGE_MS || task.attempts < MIN_FAILED_RUNS) return false;
  app.log.error({ err: error, type: job.type, jobId: job.id }, 'a job has failed for a day and is given up');
  const reason = reasonOf(error);
  await fail(
    app,
    job.lease,
    `Our storage could not be used for ${MAX_RETRY_AGE_HOURS} hours (${reason}); please start again`,
  );
  return true;
}

/** Returns a code such as EIO. Messages may name files of the server, and are not for tenants. */
function reasonOf(error: unknown): string {
  const cause = error instanceof AppError ? (error.options.cause ?? error) : error;
  return errorCode(cause) ?? 'unavailable';
}

/**
 * Runs the job once, and ends it as failed after an error that will not pass.
 * @throws errors that may pass: a file or the database could not be used, and the job must be run again
 */
export async function runJob(
  app: App,
  jobs: Jobs,
  { job, isStopping }: { job: RunningJob; isStopping: () => boolean },
): Promise<RunEnd> {
  try {
    return await jobs.run(job, isStopping);
  } catch (error) {
    if (isStopping()) return 'stopped';
    if (mayPass(error)) throw error;
    if (error instanceof AppError) return fail(app, job.lease, error.message);
    app.log.error({ jobId: job.id, type: jobs.type, err: error }, 'job failed');
    return fail(app, job.lease, jobs.internalFailure);
  }
}

/** Ends the job as failed, and discards its file. The error is for the tenant. */
async function fail(
  { db, blobs, clock }: App,
  lease: RunningJob['lease'],
  error: string,
): Promise<'failed' | 'stale'> {
  const { wasEnded, file } = await db.commit(failJob, { lease, error, now: clock.now() });
  if (file) await blobs.discard(file);
  return wasEnded ? 'failed' : 'stale';
}
