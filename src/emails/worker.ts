/** Housekeeping of emails: once an hour, expired idempotency records are removed (specification 8). */
import type { App } from '../app.ts';
import { periodic, type Work } from '../system/worker.ts';
import { sweepIdempotency } from './idempotency/store.ts';

const PERIOD_MS = 3_600_000;

/** Returns the work that removes expired idempotency records. */
export function createIdempotencySweep(app: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'idempotency sweep',
    periodMs: PERIOD_MS,
    async run() {
      let removed: number;
      do {
        removed = await app.db.commit(sweepIdempotency, { now: app.clock.now() });
      } while (removed > 0);
    },
  });
}
