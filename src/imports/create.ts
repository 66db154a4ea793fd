/**
 * Creates an import. The heading line is checked, so that an unusable file is refused at once. The file and the job
 * are durable before the answer.
 */
import type { App } from '../app.ts';
import { discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { ImportRow } from '../db/marketing-tables.ts';
import { AppError } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { ImportHandler } from './handler.ts';
import { readRecords } from './records.ts';
import { readHeadingLine } from './run.ts';
import { insertImport } from './store.ts';

export type CreateImportApp = Pick<App, 'db' | 'blobs' | 'clock' | 'wakeups'>;

export type WantedImport = Pick<ImportRow, 'tenantId' | 'kind' | 'audienceId'> & {
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
): Promise<ImportRow> {
  const asked = { ...wanted, options: JSON.stringify(options) };
  const headings = await firstRecord(file);
  requireLines(file);
  await readHeadingLine(app, handler, asked, headings);
  const now = app.clock.now();
  const blob = await app.blobs.prepare([file]);
  const job = newImport(asked, { blobId: blob.id, sizeBytes: file.length, now });
  await discardOnRefusal(app.blobs, [blob], () => app.db.commit(insertImport, { job, blob }));
  app.wakeups.notify('imports');
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
    'The file holds no rows: it is a single line. Line breaks may have been lost on the way; curl keeps them with --data-binary',
  );
}

function newImport(
  asked: Pick<ImportRow, 'tenantId' | 'kind' | 'audienceId' | 'options'>,
  { blobId, sizeBytes, now }: Pick<ImportRow, 'blobId' | 'sizeBytes'> & { now: number },
): ImportRow {
  return {
    ...asked,
    id: newId('imp', now),
    status: 'queued',
    error: null,
    blobId,
    sizeBytes,
    processedBytes: 0,
    rows: 0,
    created: 0,
    updated: 0,
    skipped: 0,
    failed: 0,
    dueAt: now,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
  };
}
