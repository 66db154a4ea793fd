/** Creates a queued export. */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { newJob } from '../jobs/new-job.ts';
import { insertExport } from './store.ts';

/** `filter` selects the rows, in the form that the handler reads. */
type WantedExport = Pick<JobRow, 'tenantId' | 'kind' | 'audienceId'> & { filter: object };

/**
 * Creates an export and returns it.
 * @throws AppError validation_error when the maximum number of exports is reached
 */
export async function createExport({ db, clock }: App, { filter, ...wanted }: WantedExport): Promise<JobRow> {
  const job = newJob(
    {
      ...wanted,
      type: 'export',
      options: JSON.stringify(filter),
      progress: '{}',
      blobId: null,
      sizeBytes: null,
    },
    clock.now(),
  );
  await db.commit(insertExport, job);
  return job;
}
