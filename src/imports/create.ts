/**
 * Creates an import. The heading line is checked, so that an unusable file is refused at once. The file and the job
 * are durable before the answer.
 */
import type { App } from '../app.ts';
import { discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { newJob } from '../jobs/new-job.ts';
import { AppError } from '../system/errors.ts';
import { findEncoding } from './encoding.ts';
import type { ImportHandler } from './handler.ts';
import { isAddress } from './headings.ts';
import type { FileOptions } from './options.ts';
import { NO_PROGRESS } from './progress.ts';
import { type CsvRecord, readRecords } from './records.ts';
import { readFirstRecord, requireFewColumns } from './run.ts';
import { insertImport } from './store.ts';

export type WantedImport = Pick<JobRow, 'tenantId' | 'kind' | 'audienceId'> & {
  options: object & FileOptions;
  file: Buffer;
};

/**
 * Creates an import and returns it.
 * @throws AppError validation_error for an unusable file, and when too many imports wait; unavailable
 */
export async function createImport(
  app: App,
  handler: ImportHandler,
  { file, options, ...wanted }: WantedImport,
): Promise<JobRow> {
  const encoding = options.encoding ?? (await findEncoding(file));
  const asked = { ...wanted, options: JSON.stringify({ ...options, encoding }) };
  const { cells } = await findFirstRecord(file, encoding);
  // Whoever looks at the file before it is imported can say which column is which.
  if (options.waits) requireFewColumns(cells);
  else await readFirstRecord(app, { handler, job: asked }, cells);
  if (cells.length > 1 || !isAddress(cells[0] ?? '')) requireLines(file);
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
    options.waits ? 'waiting' : 'queued',
  );
  await discardOnRefusal(app.blobs, [blob], () => app.db.commit(insertImport, { job, blob }));
  return job;
}

async function findFirstRecord(file: Buffer, encoding: FileOptions['encoding']): Promise<CsvRecord> {
  for await (const { records, fault } of readRecords([file], encoding)) {
    if (records[0]) return records[0];
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
