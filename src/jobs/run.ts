/** Runs a job once, and ends it as failed when it cannot succeed. */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { mayPass } from '../db/storage-failure.ts';
import { AppError } from '../system/errors.ts';
import { failJob } from './store.ts';

/** Length of a lease. It is longer than a write waits for the writer; after a crash the next start releases all leases. */
export const LEASE_MS = 60_000;

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
  run(job: JobRow, isStopping: () => boolean): Promise<RunEnd>;
};

export type JobApp = Pick<App, 'db' | 'blobs' | 'clock' | 'log'>;

/**
 * Runs the job, and ends it as failed after an error that will not pass.
 * @throws errors that may pass: a file or the database could not be used, and the job must be run again
 */
export async function runJob(
  app: JobApp,
  jobs: Jobs,
  { job, isStopping }: { job: JobRow; isStopping: () => boolean },
): Promise<RunEnd> {
  try {
    return await jobs.run(job, isStopping);
  } catch (error) {
    if (isStopping()) return 'stopped';
    if (mayPass(error)) throw error;
    if (error instanceof AppError) return fail(app, job, error.message);
    app.log.error({ jobId: job.id, type: jobs.type, err: error }, 'job failed');
    return fail(app, job, jobs.internalFailure);
  }
}

/** Ends the job as failed, and discards its file. The error is for the tenant. */
export async function fail(
  { db, blobs, clock }: JobApp,
  { id }: Pick<JobRow, 'id'>,
  error: string,
): Promise<'failed' | 'stale'> {
  const { wasEnded, file } = await db.commit(failJob, { id, error, now: clock.now() });
  if (file) await blobs.discard(file);
  return wasEnded ? 'failed' : 'stale';
}
