/** Creates a queued export. */
import type { App } from '../app.ts';
import type { ExportRow } from '../db/marketing-tables.ts';
import { newId } from '../system/ids.ts';
import { insertExport } from './store.ts';

export type CreateExportApp = Pick<App, 'db' | 'clock' | 'wakeups'>;

/** `filter` selects the rows, in the form that the handler reads. */
export type WantedExport = Pick<ExportRow, 'tenantId' | 'kind' | 'audienceId'> & { filter: object };

/**
 * Creates an export and returns it.
 * @throws AppError validation_error when the maximum number of exports is reached
 */
export async function createExport(
  { db, clock, wakeups }: CreateExportApp,
  { filter, ...wanted }: WantedExport,
): Promise<ExportRow> {
  const now = clock.now();
  const job: ExportRow = {
    ...wanted,
    id: newId('exp', now),
    filter: JSON.stringify(filter),
    status: 'queued',
    error: null,
    blobId: null,
    sizeBytes: null,
    rows: 0,
    dueAt: now,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
  };
  await db.commit(insertExport, job);
  wakeups.notify('exports');
  return job;
}
