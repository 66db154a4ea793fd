/**
 * The rows of a file that are taken in one write, together with how far the file is read: a crash between two of them loses
 * no row and takes none twice.
 */

import type { ImportRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { AppError } from '../system/errors.ts';
import { advanceImport, findRunning, type RowError } from './store.ts';

export type BatchRow<Row> = { line: number; email: string; value: Row };

export type ImportBatch<Row> = {
  id: ImportRow['id'];
  /** Rows of the file before these: when the job has another count, somebody else has gone on with it. */
  from: number;
  rows: readonly BatchRow<Row>[];
  /** Those that could not be read. */
  errors: readonly RowError[];
  processedBytes: number;
  /** Until then nobody else goes on. */
  until: number;
};

export type BatchResult = { kind: 'committed' } | { kind: 'stale' } | { kind: 'impossible'; error: string };

export type Outcome = 'created' | 'updated' | 'skipped';
/** Part of a write. @throws AppError validation_error before it has written anything */
export type Put<Row> = (row: Row) => Promise<Outcome>;

/** Part of a write. `open`: looks at the list the rows go to, and answers how, or why they cannot. */
export async function importRows<Row>(
  tx: Tx,
  batch: ImportBatch<Row>,
  open: (job: ImportRow) => Promise<Put<Row> | { error: string }>,
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
  const { processedBytes, until } = batch;
  await advanceImport(tx, job, { ...counts, errors, processedBytes, until });
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

/** What is said of a row. @throws whatever is no refusal */
export function refusalOf(error: unknown): string {
  if (error instanceof AppError && error.code === 'validation_error') return error.message;
  throw error;
}
