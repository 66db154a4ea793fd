/**
 * Stores jobs: imports and exports. A job is queued, then running, and at last completed or failed; until then it has a task.
 * All SQL of this table is here, and nothing else writes it. Live and test keys share jobs.
 */

import { type SqlBool, sql } from 'kysely';
import { emptyBlob, type StoredBytes } from '../blobs/store.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { findRow, updateRows } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import { isIdWithin } from '../domains/reach.ts';
import { DAY_MS } from '../system/clock.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import { cancelTask, completeTask, type Lease, scheduleTask } from '../tasks/store.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { removeErrors } from './errors/store.ts';

type JobType = JobRow['type'];

/** Maximum number of jobs of a type per tenant that have not ended. An import keeps a file of up to 50 MiB. */
export const MAX_WAITING_JOBS = 10;
/** Time after which a job is given up that waits to be started, in milliseconds. Its file takes space until then. */
const MAX_WAIT_MS = DAY_MS;

/**
 * Checks that a tenant may have another job. Jobs that wait to be started have a limit of their own, so that forgotten ones stop no other.
 * @throws AppError validation_error when the maximum number of jobs waits
 */
export async function requireFewWaiting(
  tx: Tx,
  { tenantId, type, status }: Pick<JobRow, 'tenantId' | 'type' | 'status'>,
): Promise<void> {
  const isUnstarted = status === 'waiting';
  const { count } = await tx
    .selectFrom('jobs')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', tenantId)
    .where('type', '=', type)
    .where('status', 'in', isUnstarted ? ['waiting'] : ['queued', 'running'])
    .executeTakeFirstOrThrow();
  if (count < MAX_WAITING_JOBS) return;
  if (isUnstarted)
    throw limitReached(`${type}s that wait to be started`, count, 'start or delete one of them');
  throw limitReached(`unfinished ${type}s`, count, 'try again when one has ended');
}

/** Name of the kind of task that runs the jobs of a type. */
export const JOB_KINDS = { import: 'imports', export: 'exports' } as const satisfies Record<JobType, string>;

/** Stores a new job with its task, as part of a write. The task of one that waits is due when it is given up. */
export async function insertJob(tx: Tx, job: JobRow): Promise<void> {
  await tx.insertInto('jobs').values(job).execute();
  await scheduleJob(tx, job, job.status === 'waiting' ? job.createdAt + MAX_WAIT_MS : job.createdAt);
}

/** The jobs of a tenant share a queue. */
function scheduleJob(tx: Tx, { id: reference, tenantId, type }: JobRow, dueAt: number): Promise<void> {
  return scheduleTask(tx, { kind: JOB_KINDS[type], reference, queueKey: tenantId, tenantId, dueAt });
}

type Start = JobKey & Pick<JobRow, 'options'> & { now: number };

/**
 * Starts a job that waits, with the options that were chosen meanwhile, and returns it.
 * @throws AppError not_found; invalid_state when it does not wait any more
 */
export const startJob = defineWrite(
  'jobs.start',
  async (tx, { reach, type, id, options, now }: Start): Promise<JobRow> => {
    const job = await getJob(tx, reach, { type, id });
    if (job.status !== 'waiting')
      throw new AppError('invalid_state', `The ${type} is ${job.status}, and was started before`);
    const change = { status: 'queued', options } as const;
    await requireFewWaiting(tx, { ...job, ...change });
    await updateRows(tx, 'jobs', { set: change, where: { id: job.id } });
    await scheduleJob(tx, job, now);
    return { ...job, ...change };
  },
);

/** Identifies a job as callers do. The id may be anything. */
export type JobKey = { reach: Reach; type: JobType; id: string };

/** The jobs of a type that a caller sees. One of a broadcast belongs to the domain that the broadcast is sent from, any other to the tenant. */
function jobsWithin(tx: Tx, reach: Reach, type: JobType) {
  const jobs = tx
    .selectFrom('jobs')
    .selectAll()
    .where('tenantId', '=', reach.tenantId)
    .where('type', '=', type);
  if (reach.domainId === null) return jobs;
  return jobs.where(sql<SqlBool>`(kind NOT IN ('recipients', 'links') OR EXISTS (
    SELECT 1 FROM "broadcastRuns" AS run
     WHERE run."broadcastId" = json_extract(options, '$.broadcastId') AND ${isIdWithin(reach, 'run.domainId')}))`);
}

const NAMES = { import: 'Import', export: 'Export' } satisfies Record<JobType, string>;

/**
 * Returns a job.
 * @throws AppError not_found, also for the job of another tenant or type, or beyond the reach of the key
 */
export async function getJob(tx: Tx, reach: Reach, { type, id }: Omit<JobKey, 'reach'>): Promise<JobRow> {
  return jobsWithin(tx, reach, type)
    .where('id', '=', id as JobRow['id'])
    .executeTakeFirstOrThrow(() => notFound(NAMES[type]));
}

type JobList = PageRequest & {
  type: JobType;
  status?: JobRow['status'] | undefined;
  kind?: JobRow['kind'] | undefined;
  audienceId?: string | undefined;
};

/** Returns a page of the jobs of a type, newest first. */
export function listJobs(
  tx: Tx,
  reach: Reach,
  { type, status, audienceId, kind, ...page }: JobList,
): Promise<Page<JobRow>> {
  const everyOne = jobsWithin(tx, reach, type);
  const all = status === undefined ? everyOne : everyOne.where('status', '=', status);
  // Jobs of an audience are jobs of contacts. The kind is added because the index needs it.
  const wantedKind = audienceId === undefined ? kind : (kind ?? 'contacts');
  const ofKind = wantedKind === undefined ? all : all.where('kind', '=', wantedKind);
  const wanted =
    audienceId === undefined ? ofKind : ofKind.where('audienceId', '=', audienceId as JobRow['audienceId']);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

/** A job while its task is leased. */
export type RunningJob = JobRow & { lease: Lease };

const unended = statement((db, param: Param<Pick<JobRow, 'id'>>) =>
  db.selectFrom('jobs').selectAll().where('id', '=', param('id')).where('finishedAt', 'is', null),
);

/** Begins a run of a job, and returns the job. A task without a job that has not ended is done, and the answer undefined. */
export const beginJob = defineWrite(
  'jobs.begin',
  async (tx, { lease, now }: { lease: Lease; now: number }): Promise<RunningJob | undefined> => {
    const job = await unended.first(tx, { id: lease.reference as JobRow['id'] });
    if (!job) {
      await completeTask.run(tx, lease);
      return undefined;
    }
    const change = { status: 'running', startedAt: job.startedAt ?? now } as const;
    await tx.updateTable('jobs').set(change).where('id', '=', job.id).execute();
    return { ...job, ...change, lease };
  },
);

/** Returns a running job of any tenant. The id comes from a lease, never from a caller. */
export function findRunning(tx: Tx, id: JobRow['id']): Promise<JobRow | undefined> {
  return findRow(tx, 'jobs', { id, status: 'running' });
}

/** Stores the progress of a running job, as part of a write. */
export async function advanceJob(
  tx: Tx,
  { id, rows, progress }: Pick<JobRow, 'id' | 'rows' | 'progress'>,
): Promise<void> {
  await updateRows(tx, 'jobs', { set: { rows, progress }, where: { id } });
}

export type Ended = {
  /** False when the job had ended before, or another run has continued it. */
  wasEnded: boolean;
  /** File that is no longer needed, for the caller to discard after the write. */
  file: StoredBytes | undefined;
};

/** The result of a write that came too late. */
export const NOT_ENDED: Ended = { wasEnded: false, file: undefined };

type Outcome = Pick<JobRow, 'status' | 'finishedAt'> &
  Partial<Pick<JobRow, 'error' | 'blobId' | 'sizeBytes' | 'rows' | 'progress'>>;

/** Ends a running job and its task, as part of a write. The file that it has until now is released. */
export async function endJob(
  tx: Tx,
  { id, blobId, lease }: Pick<RunningJob, 'id' | 'blobId' | 'lease'>,
  outcome: Outcome,
): Promise<Ended> {
  if ((await completeTask.run(tx, lease)) === 'stale') return NOT_ENDED;
  await tx
    .updateTable('jobs')
    .set({ blobId: null, ...outcome })
    .where('id', '=', id)
    .execute();
  return { wasEnded: true, file: blobId === null ? undefined : await emptyBlob(tx, blobId) };
}

/** Ends a running job as failed. The error is for the tenant. Rows that an import has stored stay counted. */
export const failJob = defineWrite(
  'jobs.fail',
  async (tx, { lease, error, now }: { lease: Lease; error: string; now: number }): Promise<Ended> => {
    const job = await findRunning(tx, lease.reference as JobRow['id']);
    if (!job) return NOT_ENDED;
    return endJob(tx, { ...job, lease }, { status: 'failed', error, finishedAt: now });
  },
);

/** `isGone` is false when errors of the job are left for another write; `file` is for the caller to discard. */
type Removal = { isGone: boolean; file: StoredBytes | undefined };

/**
 * Deletes as much of a job as one write may; the caller repeats it until the job is gone.
 * @throws AppError not_found; invalid_state before the job has ended
 */
export const deleteJob = defineWrite(
  'jobs.delete',
  async (tx, { reach, type, id }: JobKey): Promise<Removal> => {
    const job = await getJob(tx, reach, { type, id });
    if (job.finishedAt === null && job.status !== 'waiting') {
      throw new AppError(
        'invalid_state',
        `The ${type} is ${job.status}; it can be deleted once it has ended`,
      );
    }
    if (job.status === 'waiting') await cancelTask(tx, { kind: JOB_KINDS[type], reference: job.id });
    return removeSlice(tx, job);
  },
);

/**
 * Removes as much as one write may of the oldest job that ended before the given time. Returns undefined when there is
 * none.
 */
export const sweepJobs = defineWrite(
  'jobs.sweep',
  async (tx, { before }: { before: number }): Promise<Removal | undefined> => {
    const job = await tx
      .selectFrom('jobs')
      .select(['id', 'blobId'])
      .where('finishedAt', '<', before)
      .orderBy('finishedAt')
      .limit(1)
      .executeTakeFirst();
    return job && removeSlice(tx, job);
  },
);

/** Removes as much as one write may of a job of a tenant that is being deleted. Returns undefined when it has none. */
export async function removeJobOf(tx: Tx, tenantId: JobRow['tenantId']): Promise<Removal | undefined> {
  const jobs = tx.selectFrom('jobs').select(['id', 'blobId']).where('tenantId', '=', tenantId);
  const job = await jobs.limit(1).executeTakeFirst();
  return job && removeSlice(tx, job);
}

/** Removes errors of a job, and then the job itself. */
async function removeSlice(tx: Tx, { id, blobId }: Pick<JobRow, 'id' | 'blobId'>): Promise<Removal> {
  if (!(await removeErrors(tx, id))) return { isGone: false, file: undefined };
  await tx.deleteFrom('jobs').where('id', '=', id).execute();
  return { isGone: true, file: blobId === null ? undefined : await emptyBlob(tx, blobId) };
}
