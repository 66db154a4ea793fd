/**
 * Runs an export: reader threads read the list in slices and format the text, which is stored as it arrives. An
 * interrupted export starts again; the file that it has begun belongs to no row and is swept (blobs/worker.ts).
 */
import type { App } from '../app.ts';
import { discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { ExportRow } from '../db/marketing-tables.ts';
import { mayPass } from '../db/storage-failure.ts';
import { csvLine } from '../imports/write-csv.ts';
import { AppError } from '../system/errors.ts';
import type { ExportHandler, ExportSource } from './handler.ts';
import { endExport, requireRoom } from './store.ts';

export type ExportApp = Pick<App, 'db' | 'blobs' | 'clock' | 'log' | 'disk'>;

/**
 * Result of a run. `stopped`: the daemon is stopping, and its next start repeats the export. `stale`: the job had
 * ended.
 */
type RunEnd = 'completed' | 'failed' | 'stopped' | 'stale';

/**
 * Runs and settles the job, unless it has to start again. `isStopping` is called between slices.
 *
 * @throws errors that may pass: a file or the database could not be used, and the job starts again
 */
export async function runExport(
  app: ExportApp,
  handler: ExportHandler,
  job: ExportRow,
  isStopping: () => boolean,
): Promise<RunEnd> {
  try {
    await requireRoom(app.db.read, job.tenantId);
    return await writeFile(app, await handler.open(app, job), job, isStopping);
  } catch (error) {
    if (isStopping()) return 'stopped';
    if (mayPass(error)) throw error;
    if (error instanceof AppError) return failExport(app, job, error.message);
    app.log.error({ exportId: job.id, err: error }, 'export failed');
    return failExport(app, job, 'Something went wrong on our side; please try again');
  }
}

/** Settles a job as failed. The error is for the tenant. */
export async function failExport(
  { db, clock }: ExportApp,
  { id }: ExportRow,
  error: string,
): Promise<RunEnd> {
  const wasEnded = await db.commit(endExport, { id, now: clock.now(), result: { kind: 'failed', error } });
  return wasEnded ? 'failed' : 'stale';
}

async function writeFile(
  { db, blobs, clock, disk }: ExportApp,
  source: ExportSource,
  { id }: ExportRow,
  isStopping: () => boolean,
): Promise<RunEnd> {
  let rows = 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from(csvLine(source.headings));
    let after: string | undefined;
    do {
      if (isStopping()) throw new AppError('unavailable', 'The daemon ends');
      disk.requireReserve();
      const slice = await source.readSlice(after);
      rows += slice.rows;
      if (slice.csv !== '') yield Buffer.from(slice.csv);
      after = slice.last;
    } while (after !== undefined);
  }
  const blob = await blobs.prepare(pieces());
  const result = { kind: 'file', blob, rows } as const;
  const wasEnded = await discardOnRefusal(blobs, [blob], () =>
    db.commit(endExport, { id, now: clock.now(), result }),
  );
  if (wasEnded) return 'completed';
  await blobs.discard(blob);
  return 'stale';
}
