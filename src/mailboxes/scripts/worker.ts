/** Housekeeping of scripts: once an hour, what their runs remember is removed when it has expired. */
import type { App } from '../../app.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { sweepMemories } from './memory-store.ts';

const PERIOD_MS = 3_600_000;

/** Returns the work that removes expired memories of scripts. */
export function createMemorySweep(app: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'memories of scripts',
    periodMs: PERIOD_MS,
    async run() {
      let removed: number;
      do {
        removed = await app.db.commit(sweepMemories, { now: app.clock.now() });
      } while (removed > 0);
    },
  });
}
