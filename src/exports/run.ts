/**
 * Runs an export: reader threads read the list in slices and format the text, which is stored as it arrives. An
 * interrupted export starts again; the file that it has begun belongs to no row and is swept (blobs/worker.ts).
 */
import type { App } from '../app.ts';
import { discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import { csvLine } from '../imports/write-csv.ts';
import type { Jobs } from '../jobs/run.ts';
import type { RunningJob } from '../jobs/store.ts';
import { AppError } from '../system/errors.ts';
import type { ExportHandlers, ExportSource } from './handler.ts';
import { completeExport, requireFileBytes } from './store.ts';

/** Returns exports as a type of job. */
export function exportJobs(app: App, handlers: ExportHandlers): Jobs {
  return {
    type: 'export',
    internalFailure: 'The server failed to process the request; please try again',
    async run(job, isStopping) {
      await requireFileBytes(app.db.read, job.tenantId);
      const source = await handlers[job.kind].open(app, job);
      return writeFile(app, source, { job, isStopping });
    },
  };
}

async function writeFile(
  { db, blobs, clock, disk }: App,
  source: ExportSource,
  { job: { lease }, isStopping }: { job: RunningJob; isStopping: () => boolean },
): Promise<'completed' | 'stale'> {
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
  const wasEnded = await discardOnRefusal(blobs, [blob], () =>
    db.commit(completeExport, { lease, blob, rows, now: clock.now() }),
  );
  if (wasEnded) return 'completed';
  await blobs.discard(blob);
  return 'stale';
}
