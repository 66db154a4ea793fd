/**
 * Imports a batch of rows in one write, together with the position in the file. A crash between two batches neither
 * loses nor repeats a row.
 */

import type { JobRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import type { RowError } from '../jobs/errors/store.ts';
import { findRunning } from '../jobs/store.ts';
import { AppError } from '../system/errors.ts';
import { advanceImport } from './store.ts';

export type BatchRow<Row> = { line: number; email: string; value: Row };

export type ImportBatch<Row> = {
  id: JobRow['id'];
  /** Number of rows of the file before this batch. If the job has another number, another run has continued it. */
  from: number;
  rows: readonly BatchRow<Row>[];
  /** Rows that could not be read. */
  errors: readonly RowError[];
  processedBytes: number;
};

export type BatchResult = { kind: 'committed' } | { kind: 'stale' } | { kind: 'impossible'; error: string };

export type Outcome = 'created' | 'updated' | 'skipped';
/**
 * Stores one row, as part of a write.
 * @throws AppError validation_error before it has written anything
 */
type Put<Row> = (row: Row) => Promise<Outcome>;

/**
 * Stores the rows, as part of a write. `open` finds the list that the rows belong to and returns the function that
 * stores one, or a refusal.
 */
export async function importRows<Row>(
  tx: Tx,
  batch: ImportBatch<Row>,
  open: (job: JobRow) => Promise<Put<Row> | { error: string }>,
): Promise<BatchResult> {
  const job = await findRunning(tx, batch.id);
  if (!job || job.rows !== batch.from) return { kind: 'stale' };
  const put = await open(job);
  if ('error' in put) return { kind: 'impossible', error: put.error };
  const counts = { created: 0, updated: 0, skipped: 0 };
  const errors = [...batch.errors];
  for (const row of batch.rows) {
    const outcome = await putOne(put, row);
    if (typeof outcome === 'string') counts[outcome]++;
    else errors.push(outcome);
  }
  await advanceImport(tx, job, { ...counts, errors, processedBytes: batch.processedBytes });
  return { kind: 'committed' };
}

async function putOne<Row>(
  put: Put<Row>,
  { line, email, value }: BatchRow<Row>,
): Promise<Outcome | RowError> {
  try {
    return await put(value);
  } catch (error) {
    return { line, email, message: refusalOf(error) };
  }
}

/**
 * Returns the error text of a refused row.
 * @throws the error itself when it is not a refusal
 */
export function refusalOf(error: unknown): string {
  if (error instanceof AppError && error.code === 'validation_error') return error.message;
  throw error;
}
