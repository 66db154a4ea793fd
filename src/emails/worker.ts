/** Housekeeping of emails: idempotency records past their window (specification 8) are removed, once an hour. */
import type { App } from '../app.ts';
import { hourly, type Work } from '../system/worker.ts';
import { sweepIdempotency } from './store.ts';

export function createIdempotencySweep(app: Pick<App, 'db' | 'clock'>): Work<'sweep'> {
  return hourly(app.clock, 'idempotency sweep', async () => {
    let removed: number;
    do {
      removed = await app.db.commit(sweepIdempotency, { now: app.clock.now() });
    } while (removed > 0);
  });
}
