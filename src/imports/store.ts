/** The writes of imports: a new job with its file, the rows of a batch, and the end of the file. */
import { insertBlob } from '../blobs/store.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { BlobRow } from '../db/tables.ts';
import { insertErrors, type RowError } from '../jobs/errors/store.ts';
import {
  advanceJob,
  type Ended,
  endJob,
  findRunning,
  insertJob,
  NOT_ENDED,
  requireFewWaiting,
} from '../jobs/store.ts';
import type { Lease } from '../tasks/store.ts';
import { type ImportProgress, type RowCounts, readProgress } from './progress.ts';

/**
 * Stores a new import and its file.
 * @throws AppError validation_error when the maximum number of imports waits
 */
export const insertImport = defineWrite(
  'imports.insert',
  async (tx, { job, blob }: { job: JobRow; blob: BlobRow }) => {
    await requireFewWaiting(tx, job);
    await insertBlob(tx, blob);
    await insertJob(tx, job);
  },
);

type Advance = Omit<RowCounts, 'failed'> & {
  errors: readonly RowError[];
  processedBytes: number;
};

/** Counts the stored rows of a batch and stores its errors, as part of the write that stores the rows. */
export async function advanceImport(
  tx: Tx,
  job: JobRow,
  { errors, processedBytes, ...stored }: Advance,
): Promise<void> {
  const before = readProgress(job);
  await insertErrors(tx, job, { errors, stored: before.failed });
  const progress: ImportProgress = {
    processedBytes,
    created: before.created + stored.created,
    updated: before.updated + stored.updated,
    skipped: before.skipped + stored.skipped,
    failed: before.failed + errors.length,
  };
  const rows = progress.created + progress.updated + progress.skipped + progress.failed;
  await advanceJob(tx, { id: job.id, rows, progress: JSON.stringify(progress) });
}

type Completion = {
  lease: Lease;
  /** Number of rows that the job must have. With another number, another run has continued it. */
  rows: number;
  now: number;
};

/** Ends an import whose whole file was read. Its file is released; the job and its errors stay until the sweep. */
export const completeImport = defineWrite(
  'imports.complete',
  async (tx, { lease, rows, now }: Completion): Promise<Ended> => {
    const job = await findRunning(tx, lease.reference as JobRow['id']);
    if (!job || job.rows !== rows) return NOT_ENDED;
    const progress = JSON.stringify({ ...readProgress(job), processedBytes: job.sizeBytes });
    return endJob(tx, { ...job, lease }, { status: 'completed', progress, finishedAt: now });
  },
);
