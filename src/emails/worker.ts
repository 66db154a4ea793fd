/** Housekeeping of emails: idempotency records past their window (specification 8) are removed, once an hour. */
import type { App } from '../app.ts';
import { periodic, type Work } from '../system/worker.ts';
import { sweepIdempotency } from './idempotency/store.ts';

const PERIOD_MS = 3_600_000;

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
