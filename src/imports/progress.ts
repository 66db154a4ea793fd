/** The counts of an import, which its job stores as JSON. */
import type { JobRow } from '../db/marketing-tables.ts';

/** Number of rows by outcome. Their sum is the number of rows of the job. */
export type RowCounts = { created: number; updated: number; skipped: number; failed: number };

/** `processedBytes` is the number of bytes of the file that were read. */
export type ImportProgress = RowCounts & { processedBytes: number };

/** Progress of an import that has not begun. */
export const NO_PROGRESS: ImportProgress = {
  processedBytes: 0,
  created: 0,
  updated: 0,
  skipped: 0,
  failed: 0,
};

/** Returns the progress of an import. */
export function readProgress({ progress }: Pick<JobRow, 'progress'>): ImportProgress {
  return JSON.parse(progress) as ImportProgress;
}
