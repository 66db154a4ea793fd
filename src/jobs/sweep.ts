/** Removes imports and exports some time after their end. */
import type { App } from '../app.ts';
import { DAY_MS } from '../system/clock.ts';
import { periodic, type Work } from '../system/worker.ts';
import { sweepJobs } from './store.ts';

/**
 * Time for which an ended job is kept: long enough for its owner to read the errors of an import, and short because the
 * file of an export may contain data that its owner has deleted since.
 */
const KEPT_MS = 7 * DAY_MS;
const SWEEP_PERIOD_MS = 3_600_000;

/** Returns the work that removes ended jobs, with their errors and files. */
export function createJobSweep({ db, blobs, clock }: Pick<App, 'db' | 'clock' | 'blobs'>): Work<'run'> {
  return periodic(clock, {
    name: 'job sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const before = clock.now() - KEPT_MS;
      for (;;) {
        const removal = await db.commit(sweepJobs, { before });
        if (!removal) return;
        if (removal.file) await blobs.discard(removal.file);
      }
    },
  });
}
