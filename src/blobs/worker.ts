/**
 * Housekeeping of blobs: once an hour, files that no message names go to the trash, and old files in the trash are
 * removed.
 */
import type { System } from '../system/system.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { Blobs } from './blobs.ts';

const PERIOD_MS = 3_600_000;

/** Returns the hourly sweep as work. Its metrics count moved files and stopped sweeps. */
export function createBlobSweep({
  clock,
  blobs,
  log,
  metrics,
}: Pick<System, 'clock' | 'log' | 'metrics'> & { blobs: Blobs }): Work<'run'> {
  const moved = metrics.counter(
    'blob_files_trashed_total',
    'Files that no message names and that were moved to blobs/trash.',
  );
  const stopped = metrics.counter(
    'blob_sweeps_stopped_total',
    'Sweeps stopped because they would take too many files.',
  );
  return periodic(clock, {
    name: 'blob sweep',
    periodMs: PERIOD_MS,
    async run() {
      const swept = await blobs.sweep();
      moved.inc(swept.moved);
      if (swept.restored > 0)
        log.warn(
          { restored: swept.restored },
          'files were put back from blobs/trash: messages name them again',
        );
      if (swept.moved > 0 || swept.removed > 0)
        log.info(
          { moved: swept.moved, removed: swept.removed },
          'files that no message names were moved to blobs/trash',
        );
      if (!swept.stopped) return;
      stopped.inc();
      log.error(
        swept.stopped,
        'no file was swept: the database names too few of those in blobs/. Put back the right postrider.db, or run "postrider blobs sweep" if this is the right one',
      );
    },
  });
}
