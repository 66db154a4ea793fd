/**
 * Creates an import. The heading line is checked, so that an unusable file is refused at once. The file and the job
 * are durable before the answer.
 */
import type { App } from '../app.ts';
import { discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { newJob } from '../jobs/new-job.ts';
import { AppError } from '../system/errors.ts';
import type { ImportHandler } from './handler.ts';
import { NO_PROGRESS } from './progress.ts';
import { readRecords } from './records.ts';
import { readHeadingLine } from './run.ts';
import { insertImport } from './store.ts';

export type CreateImportApp = Pick<App, 'db' | 'blobs' | 'clock' | 'wakeups'>;

type WantedImport = Pick<JobRow, 'tenantId' | 'kind' | 'audienceId'> & {
  options: object;
  file: Buffer;
};

/**
 * Creates an import and returns it.
 * @throws AppError validation_error for an unusable file, and when too many imports wait; unavailable
 */
export async function createImport(
  app: CreateImportApp,
  handler: ImportHandler,
  { file, options, ...wanted }: WantedImport,
): Promise<JobRow> {
  const asked = { ...wanted, options: JSON.stringify(options) };
  const headings = await firstRecord(file);
  requireLines(file);
  await readHeadingLine(app, { handler, job: asked }, headings);
  const now = app.clock.now();
  const blob = await app.blobs.prepare([file]);
  const job = newJob(
    {
      ...asked,
      type: 'import',
      progress: JSON.stringify(NO_PROGRESS),
      blobId: blob.id,
      sizeBytes: file.length,
    },
    now,
  );
  await discardOnRefusal(app.blobs, [blob], () => app.db.commit(insertImport, { job, blob }));
  app.wakeups.notify('jobs');
  return job;
}

async function firstRecord(file: Buffer): Promise<readonly string[]> {
  for await (const { records, fault } of readRecords([file])) {
    if (records[0]) return records[0].cells;
    if (fault) throw fault;
  }
  throw new AppError('validation_error', 'The file is empty');
}

/** Refuses a file without line breaks, which `curl -d` produces: its rows have become part of the heading line. */
function requireLines(file: Buffer): void {
  if (file.includes('\n') || file.includes('\r')) return;
  throw new AppError(
    'validation_error',
    'The file has only one line, so it has no rows. curl removes line breaks unless you use --data-binary',
  );
}
