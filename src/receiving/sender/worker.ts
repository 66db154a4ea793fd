/** Housekeeping of greylisting: once an hour, expired entries are removed, and so are the oldest ones when there are too many. */
import type { App } from '../../app.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { countEntries, sweepEntries } from './store.ts';

const PERIOD_MS = 3_600_000;
/** Maximum number of entries: about 50 MB. */
const MAX_ENTRIES = 500_000;

/** Returns the work that removes entries. */
export function createGreylistSweep(
  app: Pick<App, 'db' | 'clock'>,
  { maxEntries = MAX_ENTRIES }: { maxEntries?: number } = {},
): Work<'run'> {
  const sweep = async (expiredBy: number, maxRows: number): Promise<void> => {
    for (let left = maxRows; left > 0; ) {
      const removed = await app.db.commit(sweepEntries, { expiredBy, rows: left });
      if (removed === 0) return;
      left -= removed;
    }
  };
  return periodic(app.clock, {
    name: 'greylist sweep',
    periodMs: PERIOD_MS,
    async run() {
      await sweep(app.clock.now(), Number.POSITIVE_INFINITY);
      const excess = (await app.db.query(countEntries, undefined)) - maxEntries;
      await sweep(Number.MAX_SAFE_INTEGER, excess);
    },
  });
}
