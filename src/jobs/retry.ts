/** Defers jobs whose run failed, and fails those that have been failing for a day. */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { jitter } from '../system/backoff.ts';
import { AppError, errorCode } from '../system/errors.ts';
import { fail, type JobApp } from './run.ts';
import { deferJob } from './store.ts';

/** Delay after the first failed run of a job. It doubles with each further failure. Our own values. */
const MIN_RETRY_DELAY_MS = 5_000;
const MAX_RETRY_DELAY_MS = 300_000;
/**
 * A job fails for good once it was started this long ago and its last runs have all failed: such an error needs an
 * operator, and the tenant must be able to start another job. Runs are counted from the start of the daemon, which may
 * have been stopped for a day. Our own values.
 */
const MAX_RETRY_AGE_HOURS = 24;
const MAX_RETRY_AGE_MS = MAX_RETRY_AGE_HOURS * 3_600_000;
const MIN_FAILED_RUNS = 10;
/** Share by which the delay varies, so that jobs which failed together are not retried together. */
const RETRY_JITTER = 0.2;

type Retry = {
  /** Forgets the failures of a job after a run that did not fail. */
  forget(job: JobRow): void;
  /** Defers a job after a failed run, or ends it as failed. */
  defer(job: JobRow, error: unknown): Promise<void>;
};

/** Returns the retries of jobs. Failures are counted in memory: after a restart every job is tried at once. */
export function createRetry(app: JobApp & Pick<App, 'random'>): Retry {
  const { db, clock, log, random } = app;
  /** Number of failures in a row of each job that has not ended. */
  const failures = new Map<JobRow['id'], number>();
  return {
    forget: ({ id }) => void failures.delete(id),
    async defer(job, error) {
      const { id, type } = job;
      const failed = (failures.get(id) ?? 0) + 1;
      failures.set(id, failed);
      const ageMs = clock.now() - (job.startedAt ?? clock.now());
      if (ageMs >= MAX_RETRY_AGE_MS && failed >= MIN_FAILED_RUNS) {
        log.error({ err: error, type, jobId: id }, 'a job has failed for a day and is given up');
        const reason = reasonOf(error);
        await fail(
          app,
          job,
          `Our storage could not be used for ${MAX_RETRY_AGE_HOURS} hours (${reason}); please start again`,
        );
        failures.delete(id);
        return;
      }
      const baseMs = Math.min(MIN_RETRY_DELAY_MS * 2 ** (failed - 1), MAX_RETRY_DELAY_MS);
      const delayMs = jitter(random, baseMs, RETRY_JITTER);
      log.warn({ err: error, type, jobId: id, delayMs }, 'a job failed and will be retried');
      // If this write fails as well, the job falls due when its lease ends.
      await db.commit(deferJob, { id, until: clock.now() + delayMs });
    },
  };
}

/** Returns a code such as EIO. Messages may name files of the server, and are not for tenants. */
function reasonOf(error: unknown): string {
  const cause = error instanceof AppError ? (error.options.cause ?? error) : error;
  return errorCode(cause) ?? 'unavailable';
}
