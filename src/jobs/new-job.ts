/** Makes the row of a new job, before it is stored. */
import type { JobRow } from '../db/marketing-tables.ts';
import { newId } from '../system/ids.ts';

/** Prefix of the ids of each type of job. */
export const JOB_ID_PREFIXES = { import: 'imp', export: 'exp' } as const satisfies Record<
  JobRow['type'],
  string
>;

type WantedJob = Pick<
  JobRow,
  'tenantId' | 'type' | 'kind' | 'audienceId' | 'options' | 'progress' | 'blobId' | 'sizeBytes'
>;

/** Returns the row of a queued job, or of one that waits until it is started. */
export function newJob(wanted: WantedJob, now: number, status: 'queued' | 'waiting' = 'queued'): JobRow {
  return {
    ...wanted,
    id: newId(JOB_ID_PREFIXES[wanted.type], now),
    status,
    error: null,
    rows: 0,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
  };
}
