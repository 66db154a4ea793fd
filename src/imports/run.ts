/**
 * Runs an import: it reads the file in pieces and stores a few hundred rows at a time. Each write records how many
 * rows are stored, so an interrupted import continues after the last of them.
 */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import type { RowError } from '../jobs/errors/store.ts';
import type { Jobs } from '../jobs/run.ts';
import type { RunningJob } from '../jobs/store.ts';
import { AppError } from '../system/errors.ts';
import { type BatchRow, type ImportBatch, refusalOf } from './batch.ts';
import { trimText } from './cells.ts';
import type { ImportHandler, ImportHandlers, RowReader } from './handler.ts';
import { readFileOptions } from './options.ts';
import { type CsvRecord, readRecords } from './records.ts';
import { completeImport } from './store.ts';

/** Maximum number of rows in one write, which takes about ten milliseconds. */
export const BATCH_ROWS = 500;
/**
 * Maximum number of cells in one write, for files with many columns: each may be a topic, whose choice is a row of
 * its own. 50 rows of 100 cells take 35 ms.
 */
export const BATCH_CELLS = 5_000;
/** Maximum number of bytes of the file in one write, for files with long rows. */
const BATCH_BYTES = 512 * 1024;
/**
 * Maximum number of columns: the fields of a contact, its topics, and five times the properties of one contact. Our own
 * limit.
 */
export const MAX_COLUMNS = 605;

/** Returns imports as a type of job. */
export function importJobs(app: App, handlers: ImportHandlers): Jobs {
  return {
    type: 'import',
    internalFailure: 'The server failed to process the request; what the counts say was taken',
    async run(job, isStopping) {
      if (job.kind === 'recipients' || job.kind === 'links')
        throw new Error(`${job.kind} of a broadcast are not imported`);
      if (readFileOptions(job).waits)
        throw new AppError('invalid_state', 'The import was not started within a day; upload the file again');
      const run: Run = { app, handler: handlers[job.kind], job, isStopping, rows: job.rows };
      const end = await readFile(run);
      return end === 'completed' ? complete(run) : end;
    },
  };
}

type Run = {
  app: App;
  handler: ImportHandler;
  job: RunningJob;
  isStopping: () => boolean;
  /** Number of rows that were stored or refused. */
  rows: number;
};

async function complete({ app, job, rows }: Run): Promise<'completed' | 'stale'> {
  const completion = { lease: job.lease, rows, now: app.clock.now() };
  const { wasEnded, file } = await app.db.commit(completeImport, completion);
  if (file) await app.blobs.discard(file);
  return wasEnded ? 'completed' : 'stale';
}

async function readFile(run: Run): Promise<'completed' | 'stopped' | 'stale'> {
  const { app, handler, job } = run;
  if (job.blobId === null) throw new Error('an import without a file has not ended');
  const file = await app.blobs.open(job.blobId);
  let reader: RowReader<unknown> | undefined;
  let toSkip = job.rows;
  let batch = emptyBatch();
  let readBytes = 0;
  let fault: AppError | undefined;
  const commit = () => {
    const full = batch;
    batch = emptyBatch();
    return commitBatch(run, full, readBytes);
  };
  for await (const piece of readRecords(file.chunks(), readFileOptions(job).encoding)) {
    batch.bytes += piece.readBytes - readBytes;
    ({ readBytes, fault } = piece);
    for (const record of piece.records) {
      if (!reader) {
        reader = await readFirstRecord(app, { handler, job }, record.cells);
        if (!reader.isHeadless) continue;
      }
      if (toSkip > 0) {
        toSkip--;
      } else {
        addRow(batch, reader, record);
        const isFull = batch.size === BATCH_ROWS || batch.cells >= BATCH_CELLS;
        const end = isFull ? await commit() : undefined;
        if (end) return end;
      }
    }
    const end = batch.bytes >= BATCH_BYTES ? await commit() : undefined;
    if (end) return end;
  }
  const end = await commit();
  if (end) return end;
  if (fault) throw fault;
  if (!reader) throw new AppError('validation_error', 'The file is empty');
  return 'completed';
}

/**
 * Returns the reader of the rows of a file, which its first record decides.
 * @throws AppError validation_error
 */
export async function readFirstRecord(
  app: Pick<App, 'db' | 'clock'>,
  { handler, job }: { handler: ImportHandler; job: Pick<JobRow, 'tenantId' | 'options'> },
  cells: readonly string[],
): Promise<RowReader<unknown>> {
  requireFewColumns(cells);
  return handler.readHeadings(app, job, cells);
}

/**
 * Checks the number of columns.
 * @throws AppError validation_error
 */
export function requireFewColumns({ length }: readonly string[]): void {
  if (length <= MAX_COLUMNS) return;
  throw new AppError(
    'validation_error',
    `The file has ${length} columns; at most ${MAX_COLUMNS} are allowed`,
  );
}

type Batch = { rows: BatchRow<unknown>[]; errors: RowError[]; size: number; cells: number; bytes: number };

function emptyBatch(): Batch {
  return { rows: [], errors: [], size: 0, cells: 0, bytes: 0 };
}

function addRow(batch: Batch, reader: RowReader<unknown>, record: CsvRecord): void {
  batch.size++;
  batch.cells += record.cells.length;
  const row = readRow(reader, record);
  if ('message' in row) batch.errors.push(row);
  else batch.rows.push(row);
}

/** Reads a record of a file. Returns the error of a record that is refused. */
export function readRow(
  reader: RowReader<unknown>,
  { line, cells }: CsvRecord,
): BatchRow<unknown> | RowError {
  const email = trimText(cells[reader.emailColumn] ?? '');
  if (cells.length !== reader.columns.length) {
    const message = `The row has ${cells.length} cells, and the heading line ${reader.columns.length}`;
    return { line, email, message };
  }
  try {
    return { line, email, value: reader.readRow(cells) };
  } catch (error) {
    return { line, email, message: refusalOf(error) };
  }
}

/** Stores a batch. Returns undefined when the run continues, and its result when it has ended. */
async function commitBatch(
  run: Run,
  { rows, errors, size }: Batch,
  processedBytes: number,
): Promise<'stopped' | 'stale' | undefined> {
  const { app, handler, job, isStopping } = run;
  if (size === 0) return undefined;
  if (isStopping()) return 'stopped';
  app.disk.requireReserve();
  const batch: ImportBatch<unknown> = { id: job.id, from: run.rows, rows, errors, processedBytes };
  const result = await app.db.commit(handler.write, batch);
  if (result.kind === 'stale') return 'stale';
  if (result.kind === 'impossible') throw new AppError('invalid_state', result.error);
  run.rows += size;
  return undefined;
}
