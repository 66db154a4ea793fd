/** The queries and writes of exports: the limits of their files, and a complete file. */

import { insertBlob } from '../blobs/store.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { countRows } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import type { BlobRow } from '../db/tables.ts';
import { endJob, findRunning, getJob, insertJob, requireFewWaiting } from '../jobs/store.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import type { Lease } from '../tasks/store.ts';
import type { Reach } from '../tenants/authenticate.ts';

type TenantId = JobRow['tenantId'];
type AudienceId = NonNullable<JobRow['audienceId']>;
type CompletedExport = JobRow & { blobId: BlobRow['id'] };

/** Maximum number of exports per tenant, ended ones included. Each keeps a file for a week. */
export const MAX_KEPT = 100;
/** Maximum size of the files of one tenant together, without the file that is being written. */
export const MAX_KEPT_GIB = 1;
export const MAX_KEPT_BYTES = MAX_KEPT_GIB * 1024 ** 3;

/**
 * Stores a new export.
 * @throws AppError validation_error when a maximum is reached
 */
export const insertExport = defineWrite('exports.insert', async (tx, job: JobRow) => {
  const { tenantId } = job;
  await requireFewWaiting(tx, job);
  const kept = await countRows(tx, 'jobs', { tenantId, type: 'export' });
  if (kept >= MAX_KEPT) {
    throw limitReached('exports', kept, 'delete one, or wait: each is deleted 7 days after it ended');
  }
  await requireFileBytes(tx, tenantId);
  await insertJob(tx, job);
});

/**
 * Checks that a file may be added. It is checked when an export is requested, and again before its file is written.
 * @throws AppError validation_error when the files have their maximum size together
 */
export async function requireFileBytes(tx: Tx, tenantId: TenantId): Promise<void> {
  const { bytes } = await tx
    .selectFrom('jobs')
    .select(({ fn }) => fn.sum<number | null>('sizeBytes').as('bytes'))
    .where('tenantId', '=', tenantId)
    .where('type', '=', 'export')
    .executeTakeFirstOrThrow();
  if ((bytes ?? 0) < MAX_KEPT_BYTES) return;
  const message = `The files of your exports have ${MAX_KEPT_GIB} GiB together, which is the maximum; delete some, or wait: each is deleted 7 days after it ended`;
  throw new AppError('validation_error', message);
}

const audienceOf = statement((db, param: Param<{ tenantId: TenantId; id: AudienceId }>) =>
  db
    .selectFrom('audiences')
    .select('id')
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id'))
    .where('deletedAt', 'is', null),
);

/**
 * Returns a completed export for its file. The file of a deleted audience is no longer available.
 *
 * @throws AppError not_found, also for the file of a deleted audience; invalid_state while there is no file
 */
export async function getCompleted(tx: Tx, reach: Reach, id: string): Promise<CompletedExport> {
  const { tenantId } = reach;
  const { blobId, ...job } = await getJob(tx, reach, { type: 'export', id });
  if (blobId === null) {
    throw new AppError('invalid_state', `The export is ${job.status}; it has a file once it has completed`);
  }
  const { audienceId } = job;
  if (audienceId === null || (await audienceOf.first(tx, { tenantId, id: audienceId }))) {
    return { ...job, blobId };
  }
  throw notFound('Export');
}

type Completion = { lease: Lease; blob: BlobRow; rows: number; now: number };

/**
 * Ends an export and stores its file in one write. Returns false when the export had ended before; its file is then
 * discarded.
 * @throws AppError invalid_state when another run has the export
 */
export const completeExport = defineWrite(
  'exports.complete',
  async (tx, { lease, blob, rows, now }: Completion): Promise<boolean> => {
    const job = await findRunning(tx, lease.reference as JobRow['id']);
    if (!job) return false;
    const { id: blobId, sizeBytes } = blob;
    const outcome = { status: 'completed', blobId, sizeBytes, rows, finishedAt: now } as const;
    await insertBlob(tx, blob);
    const { wasEnded } = await endJob(tx, { ...job, lease }, outcome);
    if (!wasEnded) throw new AppError('invalid_state', 'The export has ended');
    return true;
  },
);
