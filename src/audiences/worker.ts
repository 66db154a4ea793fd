/** Removes the contacts of deleted audiences, so that nobody waits for it. */
import type { App } from '../app.ts';
import type { Work } from '../system/worker.ts';
import { clearDeleted } from './delete.ts';
import { findDeletedAudience } from './store.ts';

/**
 * Rows in one write, which holds up all others: contacts of a million, in 9 ms (17 at p99), flush and all; 1,000 take 20
 * (40). About twice as long where half of them are choices.
 */
const SLICE = 500;

/** The lease does all of it: what fails, for want of disk for instance, is tried again after a pause. */
export function createAudienceSweep(app: Pick<App, 'db'>): Work<'swept'> {
  return {
    name: 'audience sweep',
    wakeOn: ['audiences'],
    concurrency: 1,
    async lease() {
      if (!(await findDeletedAudience(app.db.read))) return [];
      return (await app.db.commit(clearDeleted, { limit: SLICE })) ? ['swept'] : [];
    },
    run: async () => {},
    nextDueAt: async () => undefined,
  };
}
